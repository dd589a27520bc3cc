import type { Stack } from '@aws-sdk/client-cloudformation'
import { shellWord } from '../../layers/gateway/domain/basics/shell-word.ts'
import { KEY_DEFAULTS } from '../../layers/gateway/domain/keys/new-key.ts'
import type { CatalogData } from '../../layers/gateway/domain/routing/catalog.ts'
import { OUTPUTS, stackName } from '../../layers/gateway/names.ts'
import { bootstrapOf, deployOf, IS_PACKAGE, SETTINGS_FILE, WAYBILL } from '../../layers/terminal/how-to-run.ts'
import { US_EAST_1, WITHOUT_FUNCTION_URLS } from '../regions.ts'
import { foundationModels } from '../rights/bedrock-targets.ts'
import { ADOPTED_TAG, edgeNeedsOf, reservedBy, type Stage } from '../stages.ts'
import { Aws } from './aws.ts'

export type Plan = { readonly aws: Aws; readonly stage: Stage; readonly catalog: CatalogData }

/** `unknown` cannot be known before the deployment; only `failed` prevents it. */
export type Outcome =
  | { readonly is: 'ok'; readonly what: string }
  | { readonly is: 'failed' | 'unknown'; readonly what: string; readonly advice: string }

type Look = (plan: Plan) => Promise<Outcome>

const ok = (what: string): Outcome => ({ is: 'ok', what })
export const failed = (what: string, advice: string): Outcome => ({ is: 'failed', what, advice })

function outputOf({ Outputs = [] }: Stack, name: string): string | undefined {
  return Outputs.find(({ OutputKey }) => OutputKey === name)?.OutputValue
}

/** The checks of what can fail a deployment, in the order in which they are printed, each with the right that it needs. */
export const CHECKS: Readonly<Record<string, { readonly right: string; readonly look: Look }>> = {
  credentials: { right: 'sts:GetCallerIdentity', look: lookForCaller },
  region: { right: 'none', look: lookAtRegion },
  bootstrap: { right: 'cloudformation:DescribeStacks', look: lookForBootstrap },
  tables: { right: 'dynamodb:ListTables', look: lookForTables },
  domain: { right: 'cloudfront:ListDistributions', look: lookForDomain },
  concurrency: { right: 'lambda:GetAccountSettings', look: lookAtQuota },
  bedrock: { right: 'bedrock:GetFoundationModelAvailability', look: lookForAccess },
}

export async function lookForCaller({ aws }: Plan): Promise<Outcome> {
  const text = await aws.get('sts', '/?Action=GetCallerIdentity&Version=2011-06-15')
  const [account, arn] = ['Account', 'Arn'].map((tag) => new RegExp(`<${tag}>([^<]+)<`).exec(text)?.[1] ?? '?')
  return ok(`account ${account}, as ${arn}`)
}

async function lookAtRegion({ aws: { region } }: Plan): Promise<Outcome> {
  if (!WITHOUT_FUNCTION_URLS.includes(region)) return ok(region)
  return failed(`${region} has no Lambda Function URLs, which chat needs`, 'Set AWS_REGION to another region.')
}

export async function lookForBootstrap({ aws, stage }: Plan): Promise<Outcome> {
  const advice = `Run '${bootstrapOf(shellWord(stage.name))}'.`
  const own = await judgeToolkit(aws, IS_PACKAGE ? advice : "Run 'npx cdk bootstrap'.")
  if (own.is !== 'ok' || aws.region === US_EAST_1 || !Object.values(edgeNeedsOf(stage)).some(Boolean)) return own
  const beside = await judgeToolkit(new Aws(US_EAST_1), advice)
  const why = 'from where CloudFront takes what the stage gives it'
  return beside.is === 'ok'
    ? ok(`${own.what}, and so has ${US_EAST_1}, ${why}`)
    : { ...beside, what: `${beside.what}, ${why}` }
}

/** The version that templates of this CDK ask for. */
const LEAST_BOOTSTRAP = 6

async function judgeToolkit(aws: Aws, advice: string): Promise<Outcome> {
  const stack = await aws.stack('CDKToolkit')
  if (!stack) return failed(`CDK has nothing of its own in ${aws.region} yet`, advice)
  const [toolkit, status] = [`the stack CDKToolkit in ${aws.region}`, stack.StackStatus ?? '']
  if (!/^(CREATE|UPDATE|IMPORT|UPDATE_ROLLBACK)_COMPLETE$/.test(status)) {
    return failed(`${toolkit} is ${status}`, `Delete it in the CloudFormation console. ${advice}`)
  }
  const version = outputOf(stack, 'BootstrapVersion')
  if (Number(version) >= LEAST_BOOTSTRAP) return ok(`${toolkit} has version ${version}`)
  return failed(`${toolkit} has version ${version ?? 'none'}, not ${LEAST_BOOTSTRAP} or newer`, advice)
}

/** In the other states a stack has no resources; CDK deletes it and makes it anew. */
function isRunning(stack: Stack | undefined): stack is Stack {
  return (
    stack !== undefined && !/^(ROLLBACK_COMPLETE|REVIEW_IN_PROGRESS|DELETE_COMPLETE)$/.test(stack.StackStatus ?? '')
  )
}

type TableNames = NonNullable<Stage['tableNames']>

/** Looks for tables that outlived their stack: the next deployment adopts them if its settings have their names. */
export async function lookForTables({ aws, stage }: Plan): Promise<Outcome> {
  const { name, tableNames: names, rollout } = stage
  if (!stage.keepsData) return ok('the stage keeps none when it is destroyed')
  const stack = await aws.stack(stackName(name))
  const judged = isRunning(stack) ? judgeRunning(stack, names) : undefined
  if (judged) return judged
  // For half an hour of a canary, one key could spend from both tables.
  if (isRunning(stack) && rollout === 'canary') {
    return failed(
      'the stage would have two tables of keys while both versions of its functions run',
      `Set "rollout": "at-once" under "${name}" in ${SETTINGS_FILE} for this deployment.`,
    )
  }
  const tables = await aws.tables()
  return names ? judgeNamed(names, tables) : judgeKept(name, tables)
}

/** A name that is removed, or that no table has, makes an empty table. Undefined if the stage is to go on with others. */
function judgeRunning(stack: Stack, names: TableNames | undefined): Outcome | undefined {
  const own = { keys: outputOf(stack, OUTPUTS.keysTable), usage: outputOf(stack, OUTPUTS.usageTable) }
  const isAdopted = stack.Tags?.some(({ Key }) => Key === ADOPTED_TAG) === true
  const isSame = names ? isAdopted && names.keys === own.keys && names.usage === own.usage : !isAdopted
  if (isSame) return ok(`the stage has ${own.keys} and ${own.usage}`)
  if (names && (isAdopted || (names.keys !== own.keys && names.usage !== own.usage))) return undefined
  const right = isAdopted ? `be ${JSON.stringify(own)}, and its answers` : 'not be there'
  return failed(
    'the stage would lose its tables, and go on with empty ones',
    `"tableNames" in ${SETTINGS_FILE} has to ${right}, for as long as the stack is there.`,
  )
}

function judgeNamed(names: TableNames, tables: readonly string[]): Outcome {
  const wanted = Object.values(names).filter((name) => name !== undefined)
  const missing = wanted.filter((name) => !tables.includes(name))
  if (missing.length === 0) return ok(`the deployment takes up ${wanted.join(', ')}`)
  return failed(
    `there is no table ${missing.join(' and no ')}, which tableNames says is there`,
    `Look at the region and at "tableNames" in ${SETTINGS_FILE}: the deployment would make it, and it would be empty.`,
  )
}

function judgeKept(stage: string, tables: readonly string[]): Outcome {
  // CDK's name of a table, before CloudFormation adds a suffix.
  const kept = (id: string) => tables.filter((it) => it.startsWith(`${stackName(stage)}-Tables${id}`))
  const [allKeys, allUsage, allAnswers] = [kept('Keys'), kept('Usage'), kept('Answers')]
  if (allKeys.length + allUsage.length === 0) return ok('no earlier stack of the stage has left any')
  const [[keys], [usage], [answers]] = [allKeys, allUsage, allAnswers]
  const isPlain = keys && usage && [allKeys, allUsage, allAnswers].every(({ length }) => length <= 1)
  const setting = isPlain
    ? `put "tableNames": ${JSON.stringify({ keys, usage, answers })} under "${stage}" in ${SETTINGS_FILE}`
    : `put those that belong together as "tableNames" under "${stage}" in ${SETTINGS_FILE} (keys and usage, and answers if there are)`
  return failed(
    `an earlier stack has left ${[...allKeys, ...allUsage, ...allAnswers].join(', ')}, and a deployment would begin with empty ones`,
    `To use them again, ${setting}, keep it there, and run '${deployOf(shellWord(stage))}'.`,
  )
}

/** A domain name can belong to one distribution only: another stage, or the same one in another region, may have it. */
async function lookForDomain({ aws, stage: { name, domain } }: Plan): Promise<Outcome> {
  if (!domain) return ok('the stage has none by its settings')
  // More distributions than an account may have, unless AWS was asked for more.
  const list = await aws.get('cloudfront', '/2020-05-31/distribution?MaxItems=500')
  const owner = list.split('<DistributionSummary>').find((it) => it.includes(`<CNAME>${domain.name}</CNAME>`))
  const address = owner && /<DomainName>([^<]+)</.exec(owner)?.[1]
  if (!address) return ok(`no distribution has ${domain.name}`)
  const stack = await aws.stack(stackName(name))
  if (stack && outputOf(stack, OUTPUTS.edgeDomain) === address) return ok(`the stage has ${domain.name}`)
  return failed(
    `the domain ${domain.name} belongs to another distribution of this account (${address}), which may be this stage in another region`,
    'Give the stage another domain, or take it from the other one first.',
  )
}

/** A stage that runs has its own executions, which are not free any more: the look is for a first deployment. */
export async function lookAtQuota({ aws, stage }: Plan): Promise<Outcome> {
  const text = await aws.get('lambda', '/2016-08-19/account-settings')
  const { AccountLimit = {} } = JSON.parse(text) as { AccountLimit?: Record<string, number> }
  const { UnreservedConcurrentExecutions: free = 0, ConcurrentExecutions: all = 0 } = AccountLimit
  const has = `Lambda runs ${all} requests at once in this account, ${free} of them not reserved by other functions`
  const reserved = Object.values(reservedBy(stage)).reduce<number>((sum, of) => sum + (of ?? 0), 0)
  // Lambda keeps the last hundred executions unreserved.
  const needed = reserved > 0 ? reserved + 100 : KEY_DEFAULTS.maxConcurrent
  const why = reserved > 0 ? 'the stage reserves all but 100 of' : 'one key alone may have under way'
  if (free >= needed || isRunning(await aws.stack(stackName(stage.name)))) return ok(has)
  const meanwhile =
    reserved > 0
      ? `put "reserveExecutions": false and "chatConcurrency": null under "${stage.name}" in ${SETTINGS_FILE}, which reserves none`
      : 'make keys with a lower --concurrent'
  return failed(
    `${has}; ${why} ${needed}`,
    `Ask for 1000: 'aws service-quotas request-service-quota-increase --service-code lambda --quota-code L-B99A9384 --desired-value 1000'. Until then ${meanwhile}.`,
  )
}

/** Asks about access only: no model is called. */
async function lookForAccess({ aws, catalog }: Plan): Promise<Outcome> {
  const { known, unnamed } = foundationModels(catalog)
  if (known.length + unnamed.length === 0) return ok('the catalog has no Bedrock model')
  const closed: string[] = []
  for (const { model, region } of known) {
    const missing = await missingFor(aws, model, region)
    if (missing.length > 0) closed.push(`${model} in ${region} (${missing.join(', ')})`)
  }
  if (closed.length > 0) {
    const advice = 'Open the model in the Bedrock console of that region, and fill in what it asks for.'
    return failed(`no access to ${closed.join(' and ')}`, advice)
  }
  if (unnamed.length === 0) return ok(`access to ${known.length} ${known.length === 1 ? 'model' : 'models'}`)
  const advice = `Try it after the deployment with '${WAYBILL} routes test'.`
  return { is: 'unknown', what: `which model is behind ${unnamed.join(' and ')} is not in its name`, advice }
}

async function missingFor(aws: Aws, model: string, region: string): Promise<string[]> {
  const text = await aws.get('bedrock', `/foundation-model-availability/${encodeURIComponent(model)}`, region)
  const answer = JSON.parse(text)
  const needed = [
    ['not in this region', answer.regionAvailability, 'AVAILABLE'],
    ['not authorized', answer.authorizationStatus, 'AUTHORIZED'],
    ['no entitlement', answer.entitlementAvailability, 'AVAILABLE'],
    ['its agreement is not accepted', answer.agreementAvailability?.status, 'AVAILABLE'],
  ]
  return needed.flatMap(([problem, got, wanted]) => (got === wanted ? [] : [problem]))
}
