import { spawn } from 'node:child_process'
import { openAws } from './preflight/aws.ts'
import type { Outcome } from './preflight/check.ts'
import { KEPT_TABLES } from './preflight/kept-tables.ts'
import { readSeedCatalog } from './read-seed-catalog.ts'
import { readSettings } from './settings.ts'
import { type Stage, stageOf } from './stages.ts'
import { US_EAST_1 } from './us-east-1.ts'

// `cdk deploy`, unless a stage that has left its tables behind would begin with empty ones.
const NEW_TABLES = '--new-tables'
const given = process.argv.slice(2)
const args = given.filter((it) => it !== NEW_TABLES)

try {
  const stage = stageOf(lastOf(/^(?:-c|--context)[\n=]?stage=(.*)$/gm) ?? 'dev', readSettings())
  const outcome = given.includes(NEW_TABLES) || !stage.keepsData ? undefined : await lookForTables(stage)
  if (outcome?.is === 'failed') throw new Error(`${outcome.what}. ${outcome.advice} For empty ones, add ${NEW_TABLES}.`)
  process.exitCode = await deploy()
} catch (error) {
  console.error((error as Error).message)
  process.exitCode = 1
}

/** In the region that `cdk` would take. Throws if AWS does not say: to go on unseen might begin with empty tables. */
async function lookForTables(stage: Stage): Promise<Outcome> {
  const profile = lastOf(/^--profile[\n=](.*)$/gm)
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

/** Also the stacks in us-east-1; and whatever is there already under a name that the template gives is adopted. */
function deploy(): Promise<number> {
  const cdk = spawn('cdk', ['deploy', '--all', '--import-existing-resources', ...args], { stdio: 'inherit' })
  // The terminal interrupts both; cdk says how far it came.
  process.on('SIGINT', () => {})
  return new Promise((resolve, reject) => {
    cdk.once('error', reject)
    cdk.once('close', (code) => resolve(code ?? 1))
  })
}

function lastOf(option: RegExp): string | undefined {
  return [...args.join('\n').matchAll(option)].at(-1)?.[1]
}
