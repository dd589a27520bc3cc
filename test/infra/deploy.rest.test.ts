import { Console } from 'node:console'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { cdkOnAccount, deployStage } from '../../infra/deploy/deploy-stage.ts'
import { readDocument } from '../documents/support/markdown.ts'
import { runHere } from '../support/command-line.ts'
import { type Ended, emptyFolder, run } from '../support/processes.ts'
import {
  accountOfTests,
  IDENTITY,
  json,
  noStack,
  type Replies,
  refused,
  stack,
  toolkit,
  WHO,
} from './support/aws-account.ts'

const CALLER = 'GetCallerIdentity'
const TOOLKIT = 'DescribeStacks CDKToolkit'
const STACK = 'DescribeStacks Waybill-prod'
const TABLES = 'ListTables'
const NO_STACK = noStack('x')
const LAMBDA = 'GET /2016-08-19/account-settings'
const quota = (executions: number) =>
  json({ AccountLimit: { ConcurrentExecutions: executions, UnreservedConcurrentExecutions: executions } })
const READY: Replies = { [CALLER]: IDENTITY, [TOOLKIT]: toolkit('30'), [LAMBDA]: quota(1_000) }
const actsFor = (stage: string) => `${stage} in eu-west-1: ${WHO}.\n`
const tables = (...TableNames: string[]) => json({ TableNames })
const DENIED = refused('AccessDenied', 403, '"no"')
const KEPT = ['Waybill-prod-TablesAnswers3-A', 'Waybill-prod-TablesKeys1-B', 'Waybill-prod-TablesUsage2-C']
const IMPORTS = 'deploy --all --import-existing-resources'

const folder = emptyFolder()
const account = await accountOfTests()

function environment(settings: object): Record<string, string> {
  const file = join(folder, 'settings.json')
  writeFileSync(file, JSON.stringify(settings))
  return { ...account.env, WAYBILL_SETTINGS: file, CDK_DISABLE_CLI_TELEMETRY: 'true', CDK_NOTICES: 'false' }
}

function deploy(args: string[], replies: Replies = {}, settings: object = {}, env = {}): Promise<Ended> {
  return runWith(deployStage, args, replies, { ...environment(settings), ...env })
}

/** With a `cdk` that says what it was asked for. */
function runWith(program: typeof deployStage, args: string[], replies: Replies, env: Record<string, string>) {
  account.replies = { ...READY, ...replies }
  return runHere(async ({ output, errors }) => {
    const out = new Console(output, errors)
    return program(args, out, async (told) => {
      out.log(`cdk ${told.join(' ')}`)
      return 3
    })
  }, env)
}

test('npm run deploy says for whom it acts, and deploys every stack of dev', async () => {
  expect(await deploy(['--require-approval', 'never'])).toEqual({
    code: 3,
    stdout: `${actsFor('dev')}cdk ${IMPORTS} --require-approval never\n`,
    stderr: '',
  })
  expect(account.asked).toEqual([`${CALLER} sts/eu-west-1`, `${TOOLKIT} cloudformation/eu-west-1`])
})

/** In place of the project's app: says which stage `cdk` told it. */
const APP = ['--app', `echo "$CDK_CONTEXT_JSON" | grep -o '"stage":"[a-z]*"' >&2; exit 3 #`]

test.each([
  ['npm run deploy', 'infra/deploy/main.ts', ['deploy'], 'dev'],
  ['npm run deploy -- -c stage=prod', 'infra/deploy/main.ts', ['deploy', '-c', 'stage=prod'], 'prod'],
  ['npm run diff -- --stage prod', 'infra/deploy/main.ts', ['diff', '--stage', 'prod'], 'prod'],
  ['waybill diff --stage=prod', 'cli/waybill.ts', ['diff', '--stage=prod'], 'prod'],
  ['waybill deploy --stage dev', 'cli/waybill.ts', ['deploy', '--stage', 'dev'], 'dev'],
])(
  '%s starts the cdk of the packages for that stage, in any folder, and fails as it does',
  async (_, file, args, stage) => {
    account.replies = { ...READY, [STACK]: stack('UPDATE_COMPLETE'), [TABLES]: tables() }
    const ended = await run(file, [...args, ...APP], folder, environment({})).ended
    expect([ended.code, ended.stdout]).toEqual([1, actsFor(stage)])
    expect(ended.stderr).toContain(`"stage":"${stage}"\n`)
  },
)

test.each([
  ['a stage that is there', stack('UPDATE_COMPLETE'), tables(...KEPT)],
  ['a first deployment', NO_STACK, tables('another', 'Waybill-dev-TablesKeys1-B')],
])('npm run deploy deploys prod for %s', async (_, described, listed) => {
  const { code, stdout } = await deploy(['-c', 'stage=prod'], { [STACK]: described, [TABLES]: listed })
  expect([code, stdout]).toEqual([3, `${actsFor('prod')}cdk ${IMPORTS} -c stage=prod\n`])
})

test.each([
  ['was destroyed', NO_STACK],
  ['never came to be', stack('ROLLBACK_COMPLETE')],
])(
  'npm run deploy makes no empty tables beside those of a stack that %s, and says how to use these again',
  async (_, described) => {
    const replies = { [STACK]: described, [TABLES]: tables(...KEPT) }
    const { code, stdout, stderr } = await deploy(['--context=stage=prod'], replies)
    expect([code, stdout]).toEqual([1, actsFor('prod')])
    const [, setting = ''] = /put ("tableNames": \{.*?\}) under "prod" in infra\/settings\.json/.exec(stderr) ?? []
    expect(JSON.parse(`{${setting}}`)).toEqual({
      tableNames: { keys: KEPT[1], usage: KEPT[2], answers: KEPT[0] },
    })
    // The settings that it prints are all that is needed.
    const told = await deploy(['--context=stage=prod'], replies, { prod: JSON.parse(`{${setting}}`) })
    expect(told).toEqual({ code: 3, stdout: `${actsFor('prod')}cdk ${IMPORTS} --context=stage=prod\n`, stderr: '' })
  },
)

test('npm run deploy begins with empty tables if it is told so, and does not tell cdk', async () => {
  const { stdout } = await deploy(['-c', 'stage=prod', '--new-tables'], {
    [STACK]: NO_STACK,
    [TABLES]: tables(...KEPT),
  })
  expect(stdout).toBe(`${actsFor('prod')}cdk ${IMPORTS} -c stage=prod\n`)
  expect(readDocument('docs/disaster-recovery.md')).toContain('--new-tables')
})

test.each([
  ['the stack', { [STACK]: DENIED }],
  ['the tables', { [STACK]: NO_STACK, [TABLES]: json({ __type: 'x#AccessDeniedException' }, { status: 400 }) }],
])(
  'npm run deploy does not deploy prod without having seen %s, and names the rights that it needs',
  async (_, replies) => {
    const { code, stdout, stderr } = await deploy(['-c', 'stage=prod'], replies)
    expect([code, stdout]).toEqual([1, actsFor('prod')])
    expect(stderr).toMatch(
      /could not be looked at \(AccessDenied.*cloudformation:DescribeStacks and dynamodb:ListTables/,
    )
  },
)

test('npm run deploy complains of settings and stages before it asks anybody', async () => {
  expect((await deploy(['-c', 'stage=nope'])).stderr).toMatch(/^There is no stage 'nope'/)
  expect((await deploy([], {}, { prod: { waf: 'on' } })).stderr).toMatch(
    /prod\.waf: must be "off", "count" or "block", but got 'on'/,
  )
  expect(account.asked).toEqual([])
})

const NOBODY = { AWS_ACCESS_KEY_ID: '', AWS_SECRET_ACCESS_KEY: '' }
const DEAD = 'http://127.0.0.1:1'

/** The trouble, and the one line that reports it. */
const TROUBLES: readonly [what: string, replies: Replies, env: Record<string, string>, says: RegExp][] = [
  ['no region', {}, { AWS_REGION: '' }, /^No AWS region is set, or not a valid one\. Set AWS_REGION /],
  ['no credentials', {}, NOBODY, /^No AWS credentials were found\. Set AWS_PROFILE, or sign in /],
  ['no such profile', {}, { ...NOBODY, AWS_PROFILE: 'nope' }, /^The profile 'nope' of AWS_PROFILE has no /],
  ['no network', {}, { AWS_ENDPOINT_URL_STS: DEAD }, /^AWS cannot be reached \(.+\)\. Look at the network/],
  ['expired credentials', { [CALLER]: refused('ExpiredToken') }, {}, /^The AWS credentials have expired\. Sign in /],
  ['wrong credentials', { [CALLER]: refused('InvalidClientTokenId') }, {}, /^AWS does not accept the credentials /],
]

test.each(TROUBLES)(
  'npm run deploy and npm run diff say in one line that there is %s, before cdk is started',
  async (_, replies, env, says) => {
    const line = new RegExp(`${says.source}.*\\n$`)
    const ended = { code: 1, stdout: '', stderr: expect.stringMatching(line) }
    expect(await deploy([], replies, {}, env)).toEqual(ended)
    expect(await runWith(cdkOnAccount, ['diff'], replies, { ...environment({}), ...env })).toEqual(ended)
  },
)

test('npm run deploy says in one line that the account is not bootstrapped', async () => {
  expect(await deploy([], { [TOOLKIT]: NO_STACK })).toEqual({
    code: 1,
    stdout: actsFor('dev'),
    stderr: "CDK has nothing of its own in eu-west-1 yet. Run 'npx cdk bootstrap'.\n",
  })
})

const FIRST = { [STACK]: NO_STACK, [TABLES]: tables() }

test('npm run deploy begins no first deployment of prod that a new account’s quota would stop, and says what to set', async () => {
  const { code, stdout, stderr } = await deploy(['-c', 'stage=prod'], { ...FIRST, [LAMBDA]: quota(10) })
  expect([code, stdout]).toEqual([1, actsFor('prod')])
  expect(stderr).toMatch(
    /^Lambda runs 10 requests at once .* all but 100 of 103\. Ask for 1000: .*"reserveExecutions": false and/,
  )
  const settings = { prod: { reserveExecutions: false } }
  expect((await deploy(['-c', 'stage=prod'], { ...FIRST, [LAMBDA]: quota(10) }, settings)).code).toBe(3)
  // CloudFormation itself undoes a change of a stage that runs.
  const running = { [STACK]: stack('UPDATE_COMPLETE'), [LAMBDA]: quota(10) }
  expect((await deploy(['-c', 'stage=prod'], running)).code).toBe(3)
})

test('npm run deploy goes on without a look at a quota that it may not see', async () => {
  const headers = { 'x-amzn-errortype': 'AccessDeniedException' }
  const denied = json({ message: 'no' }, { status: 403, headers })
  expect((await deploy(['-c', 'stage=prod'], { ...FIRST, [LAMBDA]: denied })).code).toBe(3)
})

test('npm run deploy leaves it to cdk whether an account is bootstrapped that it may not look at', async () => {
  expect((await deploy([], { [TOOLKIT]: DENIED })).code).toBe(3)
  expect((await deploy(['--toolkit-stack-name', 'Own'], { [TOOLKIT]: NO_STACK })).code).toBe(3)
})
