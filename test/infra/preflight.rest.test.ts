import { Console } from 'node:console'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from '@jest/globals'
import { preflight as preflightCommand } from '../../infra/preflight/preflight.ts'
import { tableOf } from '../documents/support/markdown.ts'
import { runHere } from '../support/command-line.ts'
import { type Ended, emptyFolder, run } from '../support/processes.ts'
import { APPLICATION_PROFILE, catalogOf, HAIKU } from './fixtures/bedrock-routes.ts'
import {
  accountOfTests,
  IDENTITY,
  json,
  noStack,
  type Replies,
  type Reply,
  stack,
  toolkit,
  WHO,
} from './support/aws-account.ts'

const NO_STACK = noStack('x')
const distributions = (...domains: string[]): Reply => {
  const items = domains.map(
    (domain, i) =>
      `<DistributionSummary><DomainName>d${i}.cloudfront.net</DomainName><Aliases><Items><CNAME>${domain}</CNAME></Items></Aliases></DistributionSummary>`,
  )
  return { body: `<DistributionList><Quantity>${items.length}</Quantity>${items.join('')}</DistributionList>` }
}
const concurrency = (ConcurrentExecutions: number, UnreservedConcurrentExecutions: number) =>
  json({ AccountLimit: { ConcurrentExecutions, UnreservedConcurrentExecutions } })
const OPEN = {
  authorizationStatus: 'AUTHORIZED',
  entitlementAvailability: 'AVAILABLE',
  regionAvailability: 'AVAILABLE',
  agreementAvailability: { status: 'AVAILABLE' },
}

const CALLER = 'GetCallerIdentity'
const STACKS = 'DescribeStacks CDKToolkit'
const STAGE_STACK = 'DescribeStacks Waybill-prod'
const TABLES = 'ListTables'
const LAMBDA = 'GET /2016-08-19/account-settings'
const CLOUDFRONT = 'GET /2020-05-31/distribution?MaxItems=500'
const BEDROCK = `GET /foundation-model-availability/${encodeURIComponent(HAIKU)}`

const READY: Replies = {
  [CALLER]: IDENTITY,
  [STACKS]: toolkit('30'),
  [STAGE_STACK]: NO_STACK,
  'DescribeStacks Waybill-dev': NO_STACK,
  [TABLES]: json({ TableNames: [] }),
  [CLOUDFRONT]: distributions('other.example'),
  [LAMBDA]: concurrency(1_000, 1_000),
  [BEDROCK]: json(OPEN),
}

const folder = emptyFolder()
function fileWith(name: string, content: unknown): string {
  const file = join(folder, name)
  writeFileSync(file, JSON.stringify(content))
  return file
}
const withCatalog = (...models: string[]) => ['--catalog', fileWith('catalog.json', catalogOf(models))]

const account = await accountOfTests()
beforeEach(() => {
  account.replies = READY
})

const preflight = (args: string[] = [], env: Record<string, string> = {}): Promise<Ended> =>
  runHere(({ output, errors }) => preflightCommand(['--stage', 'dev', ...args], new Console(output, errors)), {
    ...account.env,
    ...env,
  })

/** The exit code and the line of one check, when AWS answers so and prod has these settings. */
async function look(check: string, replies: Replies, args: string[] = [], settings: object = {}) {
  account.replies = { ...READY, ...replies }
  const env = { WAYBILL_SETTINGS: fileWith('settings.json', { prod: settings }) }
  const { code, stdout } = await preflight(args, env)
  const lines = stdout.split('\n').filter((line) => line.slice(8).startsWith(`${check}: `))
  expect(lines).toHaveLength(1)
  return [code, lines[0]] as const
}
const PROD = ['--stage', 'prod']
/** The words are plain, but for `.*` and a `$` at the end. */
const saying = (label: string, words: string) => {
  const plain = words.replaceAll(/[[\]{}()?+\\/]/g, '\\$&')
  return expect.stringMatching(new RegExp(`^${label} .*${plain}`))
}
const passes = (words: string) => [0, saying('ok', words)]
const fails = (words: string) => [1, saying('FAILED', words)]

test('preflight passes on an account that is ready, asks only what it says, and signs as AWS demands', async () => {
  const { code, stdout, stderr } = await preflight(withCatalog(HAIKU, `eu.${HAIKU}`))
  expect([code, stderr]).toEqual([0, ''])
  expect(stdout).toContain(`ok      credentials: ${WHO}.\n`)
  expect(stdout.match(/^ok /gm)).toHaveLength(7)
  expect(stdout).toMatch(/\nReady to deploy\.\n$/)
  expect(account.asked).toEqual([
    `${CALLER} sts/eu-west-1`,
    `${STACKS} cloudformation/eu-west-1`,
    `${LAMBDA} lambda/eu-west-1`,
    `${BEDROCK} bedrock/us-west-2`,
  ])
})

test('docs/deploy.md has a line for each check', async () => {
  const names = tableOf('docs/deploy.md', '| check | asks AWS for | fails if |').map(([name]) => name)
  const { stdout } = await preflight()
  expect([...stdout.matchAll(/^ok {6}(\w+):/gm)].map(([, name]) => name)).toEqual(names)
})

test('npm run preflight prints what it saw, and ends with 1 if the account is not ready', async () => {
  const env = { ...account.env, AWS_ACCESS_KEY_ID: '', AWS_SECRET_ACCESS_KEY: '' }
  const { code, stdout } = await run('infra/deploy/main.ts', ['preflight', '--stage', 'dev'], folder, env).ended
  expect([code, stdout]).toEqual([1, expect.stringMatching(/^FAILED {2}credentials: no AWS credentials were found/)])
})

test('preflight looks at the region of --region, and at no Bedrock model if the first catalog has none', async () => {
  const { code, stdout } = await preflight(['--region', 'us-east-2'])
  expect(code).toBe(0)
  expect(stdout).toMatch(/^ok {6}region: us-east-2\.$/m)
  expect(stdout).toMatch(/^ok {6}bedrock: the catalog has no Bedrock model\.$/m)
  expect(account.asked.map((call) => call.split('/').at(-1))).toEqual(['us-east-2', 'us-east-2', 'us-east-2'])
})

describe('what preflight cannot look at', () => {
  test('preflight says what to do without credentials, and asks AWS nothing', async () => {
    const { code, stdout } = await preflight([], { AWS_ACCESS_KEY_ID: '', AWS_SECRET_ACCESS_KEY: '' })
    expect([code, account.asked]).toEqual([1, []])
    expect(stdout).toMatch(
      /^FAILED {2}credentials: no AWS credentials were found\. Set AWS_PROFILE, or sign in with 'aws configure'/,
    )
    expect(stdout).not.toContain('bootstrap')
  })

  test('preflight says to sign in again with credentials that AWS does not accept', async () => {
    const { code, stdout } = await preflight([], { AWS_SECRET_ACCESS_KEY: 'another' })
    expect(code).toBe(1)
    expect(stdout).toMatch(
      /^FAILED {2}credentials: AWS does not accept the credentials \(SignatureDoesNotMatch.*Sign in again/,
    )
  })

  test('preflight names the right that the credentials lack', async () => {
    const headers = { 'x-amzn-errortype': 'AccessDeniedException:http://internal.amazon.com/coral/' }
    const denied = json({ message: 'User ada is not authorized' }, { status: 403, headers })
    expect(await look('concurrency', { [LAMBDA]: denied })).toEqual(
      fails('(AccessDeniedException: User ada.*credentials with the right lambda:GetAccountSettings'),
    )
  })

  test('preflight says that a region or a stage is missing', async () => {
    expect(await preflight([], { AWS_REGION: '' })).toMatchObject({
      code: 1,
      stderr: 'No AWS region is set. Set AWS_REGION, for example to us-east-1, or add --region.\n',
    })
    expect((await preflight(['--stage', 'nope'])).stderr).toMatch(/^There is no stage 'nope'/)
  })
})

test.each(['il-central-1', 'eu-central-2'])('preflight refuses %s, which has no Function URLs', async (region) => {
  expect(await look('region', {}, ['--region', region])).toEqual(
    fails(`${region} has no Lambda Function URLs.* Set AWS_REGION to another region`),
  )
})

const ELSEWHERE = `${STACKS} cloudformation/us-east-1`

const BOOTSTRAP = "Run 'npx cdk bootstrap"
const OF_PROD = `${BOOTSTRAP} -c stage=prod'`
const UNFINISHED = { [STACKS]: toolkit('30', 'ROLLBACK_COMPLETE') }

// Prod's firewall and logs have to be in us-east-1.
test.each<[string, Replies, string[], unknown]>([
  ['is not there', { [STACKS]: NO_STACK }, [], fails(`nothing of its own in eu-west-1 yet. ${BOOTSTRAP}'`)],
  ['is too old', { [STACKS]: toolkit('5') }, [], fails(`version 5, not 6 or newer. ${BOOTSTRAP}'`)],
  ['was not finished', UNFINISHED, [], fails(`ROLLBACK_COMPLETE. Delete it .*${BOOTSTRAP}'`)],
  ['is in one region', { [ELSEWHERE]: NO_STACK }, PROD, fails(`us-east-1 yet.*CloudFront.*${OF_PROD}`)],
  ['is in both regions', {}, PROD, passes('eu-west-1.*us-east-1')],
])('preflight says to bootstrap if what CDK needs %s', async (_, replies, args, says) => {
  expect(await look('bootstrap', replies, args)).toEqual(says)
})

test('preflight does not look at us-east-1 for dev, nor twice for prod in us-east-1', async () => {
  await look('bootstrap', { [ELSEWHERE]: NO_STACK })
  expect(account.asked).not.toContain(ELSEWHERE)
  account.asked.length = 0
  await look('bootstrap', {}, [...PROD, '--region', 'us-east-1'])
  expect(account.asked.filter((call) => call === ELSEWHERE)).toHaveLength(1)
})

describe('tables that outlived their stack', () => {
  const [KEYS, USAGE] = ['Waybill-prod-TablesKeys1-B', 'Waybill-prod-TablesUsage2-C']
  const KEPT = { keys: KEYS, usage: USAGE }
  const RESTORED = { keys: 'Waybill-prod-TablesKeys-2', usage: 'Waybill-prod-TablesUsage-2' }
  const listed = (...TableNames: string[]) => ({ [TABLES]: json({ TableNames }) })
  const running = (isAdopted: boolean) => ({
    [STAGE_STACK]: stack(
      'UPDATE_COMPLETE',
      { KeysTable: KEYS, UsageTable: USAGE },
      isAdopted ? ['waybill:adopted-tables'] : [],
    ),
  })
  const left = listed(KEYS, USAGE)
  const two = listed(KEYS, USAGE, 'Waybill-prod-TablesKeys1-D')
  const all = listed(KEYS, USAGE, ...Object.values(RESTORED))
  const kept = { tableNames: KEPT }
  const restored = (rollout: string) => ({ tableNames: RESTORED, rollout })
  const SETTING = `put "tableNames": {"keys":"${KEYS}","usage":"${USAGE}"} under "prod" in infra/settings.json`
  const DEPLOY = "'npm run deploy -- -c stage=prod'"
  const LOST = 'the stage would lose its tables'

  test.each<[string, Replies, object, unknown]>([
    ['finds none', {}, {}, passes('no earlier stack')],
    ['says how to use those of a destroyed prod again', left, {}, fails(`${SETTING}.*${DEPLOY}`)],
    ['leaves a choice among those of several stacks', two, {}, fails('put those that belong together as "tableNames"')],
    ['finds those of the settings', left, kept, passes(`the deployment takes up ${KEYS}, ${USAGE}.$`)],
    ['misses one of the settings', listed(KEYS), kept, fails(`there is no table ${USAGE}`)],
    ['is content if a stage has its own', { ...running(false), ...left }, {}, passes(`the stage has ${KEYS} and `)],
    ['sees that a stage would lose them to new names', running(false), kept, fails(LOST)],
    ['sees that a stage would lose adopted ones without names', running(true), {}, fails(LOST)],
    ...[false, true].flatMap((isAdopted): [string, Replies, object, unknown][] => {
      const [there, missing] = [
        { ...running(isAdopted), ...all },
        { ...running(isAdopted), ...left },
      ]
      return [
        ['lets a stage take up restored ones', there, restored('at-once'), passes(`takes up .*${RESTORED.usage}.$`)],
        ['sees that these are missing', missing, restored('at-once'), fails(`no table ${RESTORED.keys} and no`)],
        ['lets nobody use both at once', there, restored('canary'), fails('Set "rollout": "at-once"')],
      ]
    }),
  ])('preflight looks for tables and %s', async (_, replies, settings, says) => {
    expect(await look('tables', replies, PROD, settings)).toEqual(says)
  })

  test('preflight asks for no table of dev, which keeps none', async () => {
    expect(await look('tables', listed(KEYS, USAGE))).toEqual(passes('keeps none'))
    expect(account.asked.join()).not.toContain(TABLES)
  })
})

test('preflight refuses a domain that another distribution has, as the same stage in another region would', async () => {
  const domain = { name: 'ai.example.com', certificateArn: 'arn:aws:acm:us-east-1:123456789012:certificate/a' }
  const lookWith = (reply: Reply) =>
    look('domain', { [CLOUDFRONT]: distributions('x.example', domain.name), [STAGE_STACK]: reply }, PROD, { domain })
  const others = fails('ai.example.com belongs to another distribution .*d1.cloudfront.net.*another region')
  expect(await lookWith(NO_STACK)).toEqual(others)
  expect(await lookWith(stack('UPDATE_COMPLETE', { EdgeDomain: 'd0.cloudfront.net' }))).toEqual(others)
  expect(await lookWith(stack('UPDATE_COMPLETE', { EdgeDomain: 'd1.cloudfront.net' }))).toEqual(passes('ai.example'))
})

const TOO_FEW = '1000 requests at once.*, 199 of them.*request-service-quota-increase'

const [OF_CHAT, NONE] = [{ chatConcurrency: 500 }, { reserveExecutions: false }]

test.each([
  ['one key may have requests under way', [], {}, 200, TOO_FEW],
  ['the same in prod, if it reserves none', PROD, NONE, 200, TOO_FEW],
  ['prod reserves, and the hundred that nobody may', PROD, {}, 103, 'all but 100 of 103.*"reserveExecutions": false'],
  ['prod reserves with those of chat', PROD, OF_CHAT, 603, 'all but 100 of 603.*"chatConcurrency": null under "prod"'],
])('preflight wants as many free executions as %s', async (_, args, settings, least, complaint) => {
  const lookWith = (free: number, more: Replies = {}) =>
    look('concurrency', { [LAMBDA]: concurrency(1_000, free), ...more }, args, settings)
  expect(await lookWith(least)).toEqual(passes('1000 requests'))
  expect(await lookWith(least - 1)).toEqual(fails(complaint))
})

test('preflight does not count against a stage that runs what it has reserved itself', async () => {
  const replies = { [LAMBDA]: concurrency(1_000, 497), [STAGE_STACK]: stack('UPDATE_COMPLETE') }
  expect(await look('concurrency', replies, PROD, OF_CHAT)).toEqual(passes('1000 requests'))
})

test.each([
  ['not in this region', { regionAvailability: 'NOT_AVAILABLE' }],
  ['not authorized', { authorizationStatus: 'NOT_AUTHORIZED' }],
  ['no entitlement', { entitlementAvailability: 'NOT_AVAILABLE' }],
  ['its agreement is not accepted', { agreementAvailability: { status: 'PENDING' } }],
])('preflight names the Bedrock model to which there is no access: %s', async (problem, lacking) => {
  const [code, line] = await look('bedrock', { [BEDROCK]: json({ ...OPEN, ...lacking }) }, withCatalog(HAIKU))
  const complaint = `no access to ${HAIKU} in us-west-2 (${problem}). Open the model in the Bedrock console`
  expect([code, line]).toEqual([1, expect.stringContaining(complaint)])
})

test('preflight says which Bedrock route has a model that it cannot know, and passes', async () => {
  const [code, line] = await look('bedrock', {}, withCatalog(APPLICATION_PROFILE))
  expect([code, line]).toEqual([
    0,
    expect.stringContaining(`unknown bedrock: which model is behind ${APPLICATION_PROFILE}`),
  ])
})
