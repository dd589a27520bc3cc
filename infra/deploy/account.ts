import { awsTrouble, type Trouble, troubleLine } from '../../layers/gateway/platform/aws/trouble.ts'
import { openAws } from '../preflight/aws.ts'
import type { Check, Plan } from '../preflight/check.ts'
import { BOOTSTRAP, CREDENTIALS } from '../preflight/checks.ts'
import { readSeed, readSettings } from '../settings.ts'
import { stageOf } from '../stages.ts'

/** The account, region and stage that `cdk` would take with these arguments. Throws if there is no region. */
export async function planOf(args: readonly string[]): Promise<Plan> {
  const stage = stageOf(lastOf(args, /^(?:-c|--context)[\n=]?stage=(.*)$/gm) ?? 'dev', readSettings())
  const profile = lastOf(args, /^--profile[\n=](.*)$/gm)
  if (profile !== undefined) process.env.AWS_PROFILE = profile
  const aws = openAws()
  const region = await aws.findRegion().catch((error) => {
    throw asLine(error)
  })
  return { aws: aws.at(region), stage, catalog: readSeed().catalog }
}

/** The account in which `cdk` would act. Throws if AWS knows no caller, which `cdk` itself tells late and less clearly. */
export async function accountOf(plan: Plan): Promise<string> {
  const { what } = await CREDENTIALS.look(plan).catch((error) => {
    throw asLine(error)
  })
  return `${plan.stage.name} in ${plan.aws.region}: ${what}.`
}

/** Throws if the account is not bootstrapped for CDK. Without the right to look, `cdk` itself finds out. */
export async function requireBootstrap(plan: Plan): Promise<void> {
  const outcome = await look(BOOTSTRAP, plan)
  if (outcome?.is === 'failed') throw new Error(troubleLine(outcome))
}

async function look({ look }: Check, plan: Plan) {
  try {
    return await look(plan)
  } catch (error) {
    if (/^AccessDenied/.test((error as Error).name)) return undefined
    throw asLine(error)
  }
}

function asLine(error: unknown): Error {
  const { name, message } = error as Error
  const unknown: Trouble = { what: `AWS did not say who you are (${name}: ${message})`, advice: 'Try again.' }
  return new Error(troubleLine(awsTrouble(error) ?? unknown))
}

function lastOf(args: readonly string[], option: RegExp): string | undefined {
  return [...args.join('\n').matchAll(option)].at(-1)?.[1]
}
