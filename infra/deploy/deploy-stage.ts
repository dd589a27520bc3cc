import { type Output, plainOutput } from '../../layers/gateway/domain/basics/plain-text.ts'
import type { Outcome, Plan } from '../preflight/check.ts'
import { KEPT_TABLES } from '../preflight/kept-tables.ts'
import { accountOf, planOf, requireBootstrap } from './account.ts'

const NEW_TABLES = '--new-tables'

export type RunCdk = (args: readonly string[]) => Promise<number>

/**
 * `cdk deploy`, unless the account is not ready for it, or a stage that has left its tables behind would begin with
 * empty ones. Returns the exit code. Also deploys the stacks in us-east-1; existing resources with a name that the
 * template gives are adopted.
 */
export async function deployStage(given: readonly string[], out: Output, runCdk: RunCdk): Promise<number> {
  const args = given.filter((it) => it !== NEW_TABLES)
  return told(out, async () => {
    const plan = await planOf(args)
    plainOutput(out).log(await accountOf(plan))
    if (!args.includes('--toolkit-stack-name')) await requireBootstrap(plan)
    const outcome = given.includes(NEW_TABLES) || !plan.stage.keepsData ? undefined : await lookForTables(plan)
    if (outcome?.is === 'failed')
      throw new Error(`${outcome.what}. ${outcome.advice} For empty ones, add ${NEW_TABLES}.`)
    return runCdk(['deploy', '--all', '--import-existing-resources', ...args])
  })
}

export async function cdkOnAccount(args: readonly string[], out: Output, runCdk: RunCdk): Promise<number> {
  return told(out, async () => {
    plainOutput(out).log(await accountOf(await planOf(args)))
    return runCdk(args)
  })
}

async function told(out: Output, work: () => Promise<number>): Promise<number> {
  try {
    return await work()
  } catch (error) {
    plainOutput(out).error((error as Error).message)
    return 1
  }
}

/** Throws if AWS does not tell: to go on blindly might begin with empty tables. */
async function lookForTables(plan: Plan): Promise<Outcome> {
  try {
    return await KEPT_TABLES.look(plan)
  } catch (error) {
    const { name, message } = error as Error
    throw new Error(
      `Whether an earlier stack of ${plan.stage.name} has left tables could not be looked at (${name}: ${message}). The credentials need cloudformation:DescribeStacks and dynamodb:ListTables; ${NEW_TABLES} deploys without the look.`,
    )
  }
}
