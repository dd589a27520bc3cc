import { shellWord } from '../../layers/gateway/domain/basics/shell-word.ts'
import { KEY_DEFAULTS } from '../../layers/gateway/domain/keys/new-key.ts'
import { bootstrapOf, IS_PACKAGE } from '../../layers/terminal/how-to-run.ts'
import { needsUsEast1, reservedBy } from '../stages.ts'
import { US_EAST_1 } from '../us-east-1.ts'
import type { Aws } from './aws.ts'
import { checkBedrock } from './bedrock-access.ts'
import { type Check, failed, type Outcome, ok } from './check.ts'
import { WITHOUT_FUNCTION_URLS } from './check-region.ts'
import { DOMAIN } from './domain.ts'
import { KEPT_TABLES } from './kept-tables.ts'
import { PROVIDER_SECRETS } from './provider-secrets.ts'

/** The version that templates of this CDK ask for. */
const LEAST_BOOTSTRAP = 6

/** The first check: without credentials no other can be made. */
export const CREDENTIALS: Check = {
  name: 'credentials',
  right: 'sts:GetCallerIdentity',
  async look({ aws }) {
    const text = await aws.ask('sts', { path: '/', form: 'Action=GetCallerIdentity&Version=2011-06-15' })
    const [account, arn] = ['Account', 'Arn'].map((tag) => new RegExp(`<${tag}>([^<]+)<`).exec(text)?.[1] ?? '?')
    return ok(`account ${account}, as ${arn}`)
  },
}

const REGION: Check = {
  name: 'region',
  right: 'none',
  async look({ aws: { region } }) {
    if (!WITHOUT_FUNCTION_URLS.includes(region)) return ok(region)
    return failed(`${region} has no Lambda Function URLs, which chat needs`, 'Set AWS_REGION to another region.')
  },
}

export const BOOTSTRAP: Check = {
  name: 'bootstrap',
  right: 'cloudformation:DescribeStacks',
  async look({ aws, stage }) {
    const own = await judgeToolkit(
      aws,
      IS_PACKAGE ? `Run '${bootstrapOf(shellWord(stage.name))}'.` : "Run 'npx cdk bootstrap'.",
    )
    if (own.is !== 'ok' || aws.region === US_EAST_1 || !needsUsEast1(stage)) return own
    const beside = await judgeToolkit(aws.in(US_EAST_1), `Run '${bootstrapOf(shellWord(stage.name))}'.`)
    if (beside.is === 'ok')
      return ok(`${own.what}, and so has ${US_EAST_1}, from where CloudFront takes what the stage gives it`)
    return { ...beside, what: `${beside.what}, from where CloudFront takes what the stage gives it` }
  },
}

async function judgeToolkit(aws: Aws, advice: string): Promise<Outcome> {
  const stack = await aws.stack('CDKToolkit')
  if (!stack) return failed(`CDK has nothing of its own in ${aws.region} yet`, advice)
  const version = stack.Outputs?.find(({ OutputKey }) => OutputKey === 'BootstrapVersion')?.OutputValue
  if (!/^(CREATE|UPDATE|IMPORT|UPDATE_ROLLBACK)_COMPLETE$/.test(stack.StackStatus ?? '')) {
    return failed(
      `the stack CDKToolkit in ${aws.region} is ${stack.StackStatus}`,
      `Delete it in the CloudFormation console. ${advice}`,
    )
  }
  if (!(Number(version) >= LEAST_BOOTSTRAP)) {
    const has = `the stack CDKToolkit in ${aws.region} has version ${version ?? 'none'}`
    return failed(`${has}, not ${LEAST_BOOTSTRAP} or newer`, advice)
  }
  return ok(`the stack CDKToolkit in ${aws.region} has version ${version}`)
}

/** Lambda keeps the last hundred executions unreserved. */
const LEFT_BY_LAMBDA = 100

const CONCURRENCY: Check = {
  name: 'concurrency',
  right: 'lambda:GetAccountSettings',
  async look({ aws, stage }) {
    const text = await aws.ask('lambda', { path: '/2016-08-19/account-settings' })
    const { AccountLimit = {} } = JSON.parse(text) as { AccountLimit?: Record<string, number> }
    const { UnreservedConcurrentExecutions: free = 0, ConcurrentExecutions: all = 0 } = AccountLimit
    const has = `Lambda runs ${all} requests at once in this account, ${free} of them not reserved by other functions`
    const reserved = Object.values(reservedBy(stage)).reduce<number>((sum, of) => sum + (of ?? 0), 0)
    const needed = reserved > 0 ? reserved + LEFT_BY_LAMBDA : KEY_DEFAULTS.maxConcurrent
    const why = reserved > 0 ? 'the stage reserves all but 100 of' : 'one key alone may have under way'
    if (free >= needed) return ok(has)
    return failed(
      `${has}; ${why} ${needed}`,
      "Ask for 1000: 'aws service-quotas request-service-quota-increase --service-code lambda --quota-code L-B99A9384 --desired-value 1000'. Until then deploy dev, and make keys with a lower --concurrent.",
    )
  },
}

/** The checks after the first, in the order in which they are printed. */
export const CHECKS: readonly Check[] = [
  REGION,
  BOOTSTRAP,
  KEPT_TABLES,
  DOMAIN,
  CONCURRENCY,
  PROVIDER_SECRETS,
  checkBedrock,
]
