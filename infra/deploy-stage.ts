import { type Output, plainOutput } from '../layers/gateway/domain/plain-text.ts'
import { openAws } from './preflight/aws.ts'
import type { Outcome } from './preflight/check.ts'
import { KEPT_TABLES } from './preflight/kept-tables.ts'
import { readSeedCatalog } from './read-seed-catalog.ts'
import { readSettings } from './settings.ts'
import { type Stage, stageOf } from './stages.ts'
import { US_EAST_1 } from './us-east-1.ts'

const NEW_TABLES = '--new-tables'

type RunCdk = (args: readonly string[]) => Promise<number>

/**
 * `cdk deploy`, unless a stage that has left its tables behind would begin with empty ones. Returns the exit code. Also
 * deploys the stacks in us-east-1; and whatever is there already under a name that the template gives is adopted.
 */
export async function deployStage(given: readonly string[], out: Output, runCdk: RunCdk): Promise<number> {
  const args = given.filter((it) => it !== NEW_TABLES)
  try {
    const stage = stageOf(lastOf(args, /^(?:-c|--context)[\n=]?stage=(.*)$/gm) ?? 'dev', readSettings())
    const outcome = given.includes(NEW_TABLES) || !stage.keepsData ? undefined : await lookForTables(stage, args)
    if (outcome?.is === 'failed')
      throw new Error(`${outcome.what}. ${outcome.advice} For empty ones, add ${NEW_TABLES}.`)
    return await runCdk(['deploy', '--all', '--import-existing-resources', ...args])
  } catch (error) {
    plainOutput(out).error((error as Error).message)
    return 1
  }
}

/** In the region that `cdk` would take. Throws if AWS does not say: to go on unseen might begin with empty tables. */
async function lookForTables(stage: Stage, args: readonly string[]): Promise<Outcome> {
  const profile = lastOf(args, /^--profile[\n=](.*)$/gm)
  if (profile !== undefined) process.env.AWS_PROFILE = profile
  try {
    const aws = openAws()
    const region = await aws.findRegion().catch(() => US_EAST_1)
    return await KEPT_TABLES.look({ aws: aws.at(region), stage, catalog: readSeedCatalog() })
  } catch (error) {
    const { name, message } = error as Error
    throw new Error(
      `Whether an earlier stack of ${stage.name} has left tables could not be looked at (${name}: ${message}). The credentials need cloudformation:DescribeStacks and dynamodb:ListTables; ${NEW_TABLES} deploys without the look.`,
    )
  }
}

function lastOf(args: readonly string[], option: RegExp): string | undefined {
  return [...args.join('\n').matchAll(option)].at(-1)?.[1]
}
