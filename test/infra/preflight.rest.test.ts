import { Console } from 'node:console'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals'
import { preflight as preflightCommand } from '../../infra/preflight/preflight.ts'
import { runHere } from '../support/command-line.ts'
import { type Ended, emptyFolder, run } from '../support/processes.ts'
import { APPLICATION_PROFILE, catalogOf, HAIKU } from './fixtures/bedrock-routes.ts'
import { type AwsAccount, type Replies, type Reply, startAwsAccount } from './support/aws-account.ts'

jest.setTimeout(60_000)

const json = (value: unknown, more: object = {}): Reply => ({ body: JSON.stringify(value), ...more })
const toolkit = (version: string, status = 'CREATE_COMPLETE'): Reply => ({
  body: `<DescribeStacksResponse><DescribeStacksResult><Stacks><member><StackName>CDKToolkit</StackName>
<CreationTime>2026-11-15T00:00:00Z</CreationTime><StackStatus>${status}</StackStatus><Outputs><member>
<OutputKey>BootstrapVersion</OutputKey><OutputValue>${version}</OutputValue></member></Outputs></member></Stacks>
</DescribeStacksResult></DescribeStacksResponse>`,
})
const stackWith = (output: string, value: string): Reply => ({
  body: String(toolkit(value).body).replace('BootstrapVersion', output),
})
const NO_STACK: Reply = {
  status: 400,
  body: '<ErrorResponse><Error><Code>ValidationError</Code><Message>Stack with id CDKToolkit does not exist</Message></Error></ErrorResponse>',
}
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

const WHO = 'GetCallerIdentity'
const STACKS = 'DescribeStacks CDKToolkit'
const STAGE_STACK = 'DescribeStacks Waybill-prod'
const TABLES = 'ListTables'
const LAMBDA = 'GET /2016-08-19/account-settings'
const CLOUDFRONT = 'GET /2020-05-31/distribution?MaxItems=500'
const SECRET = 'GetSecretValue'
const BEDROCK = `GET /foundation-model-availability/${encodeURIComponent(HAIKU)}`

const READY: Replies = {
  [WHO]: { body: '<Arn>arn:aws:iam::123456789012:user/ada</Arn><Account>123456789012</Account>' },
  [STACKS]: toolkit('30'),
  [STAGE_STACK]: NO_STACK,
  [TABLES]: json({ TableNames: [] }),
  [CLOUDFRONT]: distributions('other.example'),
  [LAMBDA]: concurrency(1_000, 1_000),
  [SECRET]: json({ SecretString: '{"key": "sk-1", "hosts": ["api.openai.com"]}' }),
  [BEDROCK]: json(OPEN),
}

const folder = emptyFolder()
const withCatalog = (...models: string[]): string[] => {
  const file = join(folder, 'catalog.json')
  writeFileSync(file, JSON.stringify(catalogOf(models)))
  return ['--catalog', file]
}

let account: AwsAccount
beforeAll(async () => {
  account = await startAwsAccount()
})
afterAll(() => account.stop())
beforeEach(() => {
  account.replies = READY
  account.asked.length = 0
})

const preflight = (args: string[] = [], env: Record<string, string> = {}): Promise<Ended> =>
  runHere(({ output, errors }) => preflightCommand(['--stage', 'dev', ...args], new Console(output, errors)), {
    ...account.env,
    ...env,
  })

/** The line of one check, when AWS answers so. */
async function lineOf(check: string, replies: Replies, args: string[] = [], env: Record<string, string> = {}) {
  account.replies = { ...READY, ...replies }
  const { code, stdout } = await preflight(args, env)
  const lines = stdout.split('\n').filter((line) => line.slice(8).startsWith(`${check}: `))
  expect(lines).toHaveLength(1)
  return { code, line: lines[0] }
}

test('preflight passes on an account that is ready, asks only what it says, and signs as AWS demands', async () => {
  const { code, stdout, stderr } = await preflight(withCatalog(HAIKU, `eu.${HAIKU}`))
  expect([code, stderr]).toEqual([0, ''])
  expect(stdout).toMatch(/^ok {6}credentials: account 123456789012, as arn:aws:iam::123456789012:user\/ada\.$/m)
  expect(stdout.match(/^ok /gm)).toHaveLength(8)
  expect(stdout).toMatch(/\nReady to deploy\.\n$/)
  expect(account.asked).toEqual([
    `${WHO} sts/eu-west-1`,
    `${STACKS} cloudformation/eu-west-1`,
    `${LAMBDA} lambda/eu-west-1`,
    `${SECRET} secretsmanager/eu-west-1`,
    `${BEDROCK} bedrock/us-west-2`,
  ])
})

test('npm run preflight prints what it saw, and ends with 1 if the account is not ready', async () => {
  const env = { ...account.env, AWS_ACCESS_KEY_ID: '', AWS_SECRET_ACCESS_KEY: '' }
  const { code, stdout } = await run('infra/preflight/main.ts', ['--stage', 'dev'], folder, env).ended
  expect([code, stdout]).toEqual([1, expect.stringMatching(/^FAILED {2}credentials: no AWS credentials were found/)])
})

test('preflight looks at the region of --region, and at no Bedrock model if the first catalog has none', async () => {
  const { code, stdout } = await preflight(['--region', 'us-east-2'])
  expect(code).toBe(0)
  expect(stdout).toMatch(/^ok {6}region: us-east-2\.$/m)
  expect(stdout).toMatch(/^ok {6}bedrock: the catalog has no Bedrock model\.$/m)
  expect(account.asked.map((call) => call.split('/').at(-1))).toEqual([
    ...['us-east-2', 'us-east-2', 'us-east-2', 'us-east-2'],
  ])
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
    const denied = json({ message: 'User ada is not authorized' }, { status: 403, headers: DENIED })
    const { code, line } = await lineOf('concurrency', { [LAMBDA]: denied })
    expect(code).toBe(1)
    expect(line).toMatch(
      /^FAILED .*\(AccessDeniedException: User ada.*credentials with the right lambda:GetAccountSett/,
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

const DENIED = { 'x-amzn-errortype': 'AccessDeniedException:http://internal.amazon.com/coral/' }

test.each(['il-central-1', 'eu-central-2'])('preflight refuses %s, which has no Function URLs', async (region) => {
  const { code, line } = await lineOf('region', {}, ['--region', region])
  expect(code).toBe(1)
  expect(line).toMatch(new RegExp(`^FAILED .*${region} has no Lambda Function URLs.* Set AWS_REGION to another region`))
})

test.each<[string, Reply, RegExp]>([
  ['is not there', NO_STACK, /nothing of its own in eu-west-1 yet\. Run 'npx cdk bootstrap'/],
  ['is older than the stack demands', toolkit('5'), /version 5, not 6 or newer\. Run 'npx cdk bootstrap'/],
  ['was not finished', toolkit('30', 'ROLLBACK_COMPLETE'), /ROLLBACK_COMPLETE\. Delete it .*'npx cdk bootstrap'/],
])('preflight says to bootstrap if what CDK needs in the region %s', async (_, reply, complaint) => {
  const { code, line } = await lineOf('bootstrap', { [STACKS]: reply })
  expect([code, line]).toEqual([1, expect.stringMatching(complaint)])
})

describe('a stage in another region than us-east-1', () => {
  const ELSEWHERE = `${STACKS} cloudformation/us-east-1`

  test('preflight wants us-east-1 bootstrapped, too, for prod, whose firewall and logs have to be there', async () => {
    const { code, line } = await lineOf('bootstrap', { [ELSEWHERE]: NO_STACK }, ['--stage', 'prod'])
    expect([code, line]).toEqual([
      1,
      expect.stringMatching(/nothing of its own in us-east-1 yet.*CloudFront.*Run 'npx cdk bootstrap -c stage=prod'/),
    ])
    expect((await lineOf('bootstrap', {}, ['--stage', 'prod'])).line).toMatch(/^ok .*eu-west-1.*us-east-1/)
  })

  test('preflight does not look at us-east-1 for dev, nor twice for prod in us-east-1', async () => {
    await lineOf('bootstrap', { [ELSEWHERE]: NO_STACK })
    expect(account.asked).not.toContain(ELSEWHERE)
    account.asked.length = 0
    await lineOf('bootstrap', {}, ['--stage', 'prod', '--region', 'us-east-1'])
    expect(account.asked.filter((call) => call === ELSEWHERE)).toHaveLength(1)
  })
})

describe('tables that outlived their stack', () => {
  const KEPT = ['Waybill-prod-TablesKeys1-B', 'Waybill-prod-TablesUsage2-C']
  const listed = (TableNames: string[], LastEvaluatedTableName?: string) => json({ TableNames, LastEvaluatedTableName })
  const prod = ['--stage', 'prod']
  const runningWith = ([keys, usage]: string[], adopted: boolean): Reply => ({
    body: `<DescribeStacksResponse><DescribeStacksResult><Stacks><member><StackName>Waybill-prod</StackName>
<CreationTime>2026-11-15T00:00:00Z</CreationTime><StackStatus>UPDATE_COMPLETE</StackStatus><Outputs>
<member><OutputKey>KeysTable</OutputKey><OutputValue>${keys}</OutputValue></member>
<member><OutputKey>UsageTable</OutputKey><OutputValue>${usage}</OutputValue></member></Outputs>
<Tags>${adopted ? '<member><Key>waybill:adopted-tables</Key><Value>true</Value></member>' : ''}</Tags>
</member></Stacks></DescribeStacksResult></DescribeStacksResponse>`,
  })

  test('preflight finds the tables that a destroyed prod has left, and says what makes the next deployment use them', async () => {
    const { code, line } = await lineOf('tables', { [TABLES]: listed(KEPT) }, prod)
    const advice = `put "tableNames": {"keys":"${KEPT[0]}","usage":"${KEPT[1]}"} under "prod" in infra/settings.json`
    expect([code, line]).toEqual([1, expect.stringContaining(advice)])
    expect(line).toContain("run 'npm run deploy -- -c stage=prod'")
  })

  test('preflight leaves it to the operator to choose among the tables of several stacks', async () => {
    const { code, line } = await lineOf('tables', { [TABLES]: listed([...KEPT, 'Waybill-prod-TablesKeys1-D']) }, prod)
    expect([code, line]).toEqual([1, expect.stringContaining('put those that belong together as "tableNames"')])
  })

  test('preflight is content with no tables, with a stage that has its own, and with dev, which keeps none', async () => {
    expect((await lineOf('tables', {}, prod)).line).toMatch(/^ok .*no earlier stack/)
    const running = { [STAGE_STACK]: runningWith(KEPT, false), [TABLES]: listed(KEPT) }
    expect((await lineOf('tables', running, prod)).line).toMatch(/^ok .*the stage has .*TablesKeys1-B and /)
    account.asked.length = 0
    expect((await lineOf('tables', { [TABLES]: listed(KEPT) })).line).toMatch(/^ok .*keeps none/)
    expect(account.asked.join()).not.toContain(TABLES)
  })

  test.each([
    ['gives names to tables that have none of the settings', KEPT, false, KEPT],
    ['no longer has the names of tables that were adopted', KEPT, true, undefined],
  ])('preflight says that a running stage would lose its tables if the file %s', async (_, own, adopted, names) => {
    const file = join(folder, 'running.json')
    const tableNames = names && { keys: names[0], usage: names[1] }
    writeFileSync(file, JSON.stringify({ prod: { tableNames } }))
    account.replies = { ...READY, [STAGE_STACK]: runningWith(own, adopted) }
    expect(await preflight(prod, { WAYBILL_SETTINGS: file })).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/^FAILED {2}tables: the stage would lose its tables/m),
    })
  })

  test('a running stage takes up restored tables in place of its own, if they are there and nobody can use both at once', async () => {
    const file = join(folder, 'restored.json')
    const restored = ['Waybill-prod-TablesKeys-2', 'Waybill-prod-TablesUsage-2']
    const saysWith = async (rollout: string, tables: string[], adopted: boolean) => {
      const tableNames = { keys: restored[0], usage: restored[1] }
      writeFileSync(file, JSON.stringify({ prod: { tableNames, rollout } }))
      const replies = { [STAGE_STACK]: runningWith(KEPT, adopted), [TABLES]: listed(tables) }
      return (await lineOf('tables', replies, prod, { WAYBILL_SETTINGS: file })).line
    }
    for (const adopted of [false, true]) {
      expect(await saysWith('at-once', [...KEPT, ...restored], adopted)).toMatch(/^ok .*takes up .*TablesUsage-2\.$/)
      expect(await saysWith('at-once', KEPT, adopted)).toMatch(/^FAILED .*no table Waybill-prod-TablesKeys-2 and no/)
      expect(await saysWith('canary', [...KEPT, ...restored], adopted)).toMatch(/^FAILED .*Set "rollout": "at-once"/)
    }
  })

  test('preflight checks that the tables which the settings name are there to be used again', async () => {
    const file = join(folder, 'kept.json')
    writeFileSync(file, JSON.stringify({ prod: { tableNames: { keys: KEPT[0], usage: KEPT[1] } } }))
    account.replies = { ...READY, [TABLES]: listed(KEPT) }
    expect((await preflight(prod, { WAYBILL_SETTINGS: file })).stdout).toMatch(
      /^ok {6}tables: the deployment takes up .*TablesKeys1-B, .*TablesUsage2-C\.$/m,
    )
    account.replies = { ...READY, [TABLES]: listed(KEPT.slice(0, 1)) }
    expect(await preflight(prod, { WAYBILL_SETTINGS: file })).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/^FAILED {2}tables: there is no table Waybill-prod-TablesUsage2-C/m),
    })
  })
})

test('preflight refuses a domain that another distribution has, as the same stage in another region would', async () => {
  const file = join(folder, 'with-domain.json')
  const domain = { name: 'ai.example.com', certificateArn: 'arn:aws:acm:us-east-1:123456789012:certificate/a' }
  writeFileSync(file, JSON.stringify({ prod: { domain } }))
  const look = (stack: Reply) =>
    lineOf(
      'domain',
      { [CLOUDFRONT]: distributions('x.example', 'ai.example.com'), [STAGE_STACK]: stack },
      ['--stage', 'prod'],
      {
        WAYBILL_SETTINGS: file,
      },
    )
  expect(await look(NO_STACK)).toEqual({
    code: 1,
    line: expect.stringMatching(
      /^FAILED .*ai\.example\.com belongs to another distribution .*d1\.cloudfront\.net.*another region/,
    ),
  })
  expect((await look(stackWith('EdgeDomain', 'd0.cloudfront.net'))).code).toBe(1)
  expect((await look(stackWith('EdgeDomain', 'd1.cloudfront.net'))).line).toMatch(/^ok /)
})

test('preflight wants as many executions that nobody has reserved as one key may have requests under way', async () => {
  const enough = await lineOf('concurrency', { [LAMBDA]: concurrency(1_000, 200) })
  expect(enough).toEqual({ code: 0, line: expect.stringMatching(/^ok .*1000 requests at once.*, 200 of them not/) })
  const few = await lineOf('concurrency', { [LAMBDA]: concurrency(1_000, 199) })
  expect(few).toEqual({ code: 1, line: expect.stringMatching(/^FAILED .*199 of them.*request-service-quota-increase/) })
})

test('preflight wants for prod what its functions reserve, and the hundred that Lambda lets nobody reserve', async () => {
  const prod = ['--stage', 'prod']
  expect((await lineOf('concurrency', { [LAMBDA]: concurrency(1_000, 603) }, prod)).code).toBe(0)
  const few = await lineOf('concurrency', { [LAMBDA]: concurrency(1_000, 602) }, prod)
  expect(few).toEqual({ code: 1, line: expect.stringMatching(/^FAILED .*the stage reserves all but 100 of 603\./) })
})

test('preflight says that a key would be sent nowhere, why, and what to do, without a word of the secret', async () => {
  const { code, line } = await lineOf('secrets', { [SECRET]: json({ SecretString: 'sk-of-the-provider' }) })
  const remedy = `--secret-id waybill/dev/openai --secret-string '{"key": "THE KEY", "hosts": ["api.openai.com"]}'`
  expect([code, line]).toEqual([1, expect.stringMatching(/^FAILED .*waybill\/dev\/openai is not a JSON object with/)])
  expect(line).toContain(remedy)
  expect(line).not.toContain('sk-of-the-provider')
})

test('preflight says how to make a secret that is not there yet, and passes', async () => {
  const missing = json({ __type: 'ResourceNotFoundException', message: 'none' }, { status: 400 })
  const { code, line } = await lineOf('secrets', { [SECRET]: missing })
  expect([code, line]).toEqual([
    0,
    expect.stringMatching(/^unknown .*waybill\/dev\/openai for api\.openai\.com.*create-secret/),
  ])
})

test.each([
  ['not in this region', { regionAvailability: 'NOT_AVAILABLE' }],
  ['not authorized', { authorizationStatus: 'NOT_AUTHORIZED' }],
  ['no entitlement', { entitlementAvailability: 'NOT_AVAILABLE' }],
  ['its agreement is not accepted', { agreementAvailability: { status: 'PENDING' } }],
])('preflight names the Bedrock model to which there is no access: %s', async (problem, lacking) => {
  const { code, line } = await lineOf('bedrock', { [BEDROCK]: json({ ...OPEN, ...lacking }) }, withCatalog(HAIKU))
  const complaint = `no access to ${HAIKU} in us-west-2 (${problem}). Open the model in the Bedrock console`
  expect([code, line]).toEqual([1, expect.stringContaining(complaint)])
})

test('preflight says which Bedrock route has a model that it cannot know, and passes', async () => {
  const { code, line } = await lineOf('bedrock', {}, withCatalog(APPLICATION_PROFILE))
  expect([code, line]).toEqual([
    0,
    expect.stringContaining(`unknown bedrock: which model is behind ${APPLICATION_PROFILE}`),
  ])
})
