import { type Output, plainOutput } from '../../layers/gateway/domain/basics/plain-text.ts'
import { awsTrouble, troubleLine } from '../../layers/gateway/platform/aws/trouble.ts'
import { Aws, findRegion } from '../preflight/aws.ts'
import { lookAtQuota, lookForBootstrap, lookForCaller, lookForTables, type Plan } from '../preflight/checks.ts'
import { readSeed, readSettings } from '../settings.ts'
import { reservedBy, stageOf } from '../stages.ts'

const NEW_TABLES = '--new-tables'

export type RunCdk = (args: readonly string[]) => Promise<number>

/** `cdk deploy`, unless the account is not ready, or a stage that left its tables behind would begin with empty ones. */
export function deployStage(given: readonly string[], out: Output, runCdk: RunCdk): Promise<number> {
  const args = given.filter((it) => it !== NEW_TABLES)
  return onAccount(args, out, async (plan) => {
    if (!args.includes('--toolkit-stack-name')) await requireReady(lookForBootstrap, plan)
    if (Object.values(reservedBy(plan.stage)).some(Boolean)) await requireReady(lookAtQuota, plan)
    if (!given.includes(NEW_TABLES)) await requireTables(plan)
    return runCdk(['deploy', '--all', '--import-existing-resources', ...args])
  })
}

export function cdkOnAccount(args: readonly string[], out: Output, runCdk: RunCdk): Promise<number> {
  return onAccount(args, out, () => runCdk(args))
}

/** Says first for whom it acts. AWS may know no caller, which `cdk` itself tells late and less clearly. */
async function onAccount(args: readonly string[], out: Output, act: (plan: Plan) => Promise<number>): Promise<number> {
  const { log, error } = plainOutput(out)
  try {
    const plan = await planOf(args)
    const { what } = await lookForCaller(plan).catch(failInLine)
    log(`${plan.stage.name} in ${plan.aws.region}: ${what}.`)
    return await act(plan)
  } catch (thrown) {
    error((thrown as Error).message)
    return 1
  }
}

async function planOf(args: readonly string[]): Promise<Plan> {
  const stage = stageOf(lastOf(args, /^(?:-c|--context)[\n=]?stage=(.*)$/gm) ?? 'dev', readSettings())
  const profile = lastOf(args, /^--profile[\n=](.*)$/gm)
  if (profile !== undefined) process.env.AWS_PROFILE = profile
  return { aws: new Aws(await findRegion().catch(failInLine)), stage, catalog: readSeed().catalog }
}

function lastOf(args: readonly string[], option: RegExp): string | undefined {
  return [...args.join('\n').matchAll(option)].at(-1)?.[1]
}

function failInLine(error: Error): never {
  const unknown = { what: `AWS did not answer as it should (${error.name}: ${error.message})`, advice: 'Try again.' }
  throw new Error(troubleLine(awsTrouble(error) ?? unknown))
}

/** `cdk` itself finds out if the credentials have no right to look. */
async function requireReady(look: typeof lookForBootstrap, plan: Plan): Promise<void> {
  const outcome = await look(plan).catch((error) => (/^AccessDenied/.test(error.name) ? undefined : failInLine(error)))
  if (outcome?.is === 'failed') throw new Error(troubleLine(outcome))
}

/** Throws also if AWS does not tell: to go on blindly might begin with empty tables. */
async function requireTables(plan: Plan): Promise<void> {
  const outcome = await lookForTables(plan).catch(({ name, message }: Error) => {
    throw new Error(
      `Whether an earlier stack of ${plan.stage.name} has left tables could not be looked at (${name}: ${message}). The credentials need cloudformation:DescribeStacks and dynamodb:ListTables; ${NEW_TABLES} deploys without the look.`,
    )
  })
  if (outcome.is === 'failed') throw new Error(`${outcome.what}. ${outcome.advice} For empty ones, add ${NEW_TABLES}.`)
}
