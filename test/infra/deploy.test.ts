import { Console } from 'node:console'
import { chmodSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, jest, test } from '@jest/globals'
import { deployStage } from '../../infra/deploy-stage.ts'
import { readDocument } from '../documents/support/markdown.ts'
import { runHere } from '../support/command-line.ts'
import { type Ended, emptyFolder, run } from '../support/processes.ts'
import { type AwsAccount, type Replies, type Reply, startAwsAccount } from './support/aws-account.ts'

jest.setTimeout(60_000)

const STACK = 'DescribeStacks Waybill-prod'
const TABLES = 'ListTables'
const NO_STACK: Reply = {
  status: 400,
  body: '<ErrorResponse><Error><Code>ValidationError</Code><Message>Stack does not exist</Message></Error></ErrorResponse>',
}
const stack = (status: string): Reply => ({
  body: `<DescribeStacksResponse><DescribeStacksResult><Stacks><member><StackName>Waybill-prod</StackName>
<CreationTime>2026-11-15T00:00:00Z</CreationTime><StackStatus>${status}</StackStatus></member></Stacks>
</DescribeStacksResult></DescribeStacksResponse>`,
})
const tables = (...TableNames: string[]): Reply => ({ body: JSON.stringify({ TableNames }) })
const DENIED = '<ErrorResponse><Error><Code>AccessDenied</Code><Message>"no"</Message></Error></ErrorResponse>'
const KEPT = ['Waybill-prod-TablesAnswers3-A', 'Waybill-prod-TablesKeys1-B', 'Waybill-prod-TablesUsage2-C']
const IMPORTS = 'deploy --all --import-existing-resources'

const folder = emptyFolder()
let account: AwsAccount
beforeAll(async () => {
  account = await startAwsAccount()
  // In place of the real one, which needs an account: says what it was asked for.
  writeFileSync(join(folder, 'cdk'), '#!/bin/sh\necho "cdk $*"\nexit 3\n')
  chmodSync(join(folder, 'cdk'), 0o755)
})
afterAll(() => account.stop())
beforeEach(() => {
  account.asked.length = 0
})

function environment(settings: object): Record<string, string> {
  const file = join(folder, 'settings.json')
  writeFileSync(file, JSON.stringify(settings))
  return { ...account.env, WAYBILL_SETTINGS: file, PATH: [folder, process.env.PATH].join(delimiter) }
}

function deploy(args: string[], replies: Replies = {}, settings: object = {}): Promise<Ended> {
  account.replies = replies
  return runHere(async ({ output, errors }) => {
    const out = new Console(output, errors)
    return deployStage(args, out, async (told) => {
      out.log(`cdk ${told.join(' ')}`)
      return 3
    })
  }, environment(settings))
}

test('npm run deploy deploys every stack of dev without asking AWS beforehand, and ends as cdk does', async () => {
  expect(await run('infra/deploy.ts', ['--require-approval', 'never'], folder, environment({})).ended).toEqual({
    code: 3,
    stdout: `cdk ${IMPORTS} --require-approval never\n`,
    stderr: '',
  })
  expect(account.asked).toEqual([])
})

test.each([
  ['a stage that is there', stack('UPDATE_COMPLETE'), tables(...KEPT)],
  ['a first deployment', NO_STACK, tables('another', 'Waybill-dev-TablesKeys1-B')],
])('npm run deploy deploys prod for %s', async (_, described, listed) => {
  const { code, stdout } = await deploy(['-c', 'stage=prod'], { [STACK]: described, [TABLES]: listed })
  expect([code, stdout]).toEqual([3, `cdk ${IMPORTS} -c stage=prod\n`])
})

test.each([
  ['was destroyed', NO_STACK],
  ['never came to be', stack('ROLLBACK_COMPLETE')],
])(
  'npm run deploy makes no empty tables beside those of a stack that %s, and says how to use these again',
  async (_, described) => {
    const replies = { [STACK]: described, [TABLES]: tables(...KEPT) }
    const { code, stdout, stderr } = await deploy(['--context=stage=prod'], replies)
    expect([code, stdout]).toEqual([1, ''])
    const [, setting = ''] = /put ("tableNames": \{.*?\}) under "prod" in infra\/settings\.json/.exec(stderr) ?? []
    expect(JSON.parse(`{${setting}}`)).toEqual({
      tableNames: { keys: KEPT[1], usage: KEPT[2], answers: KEPT[0] },
    })
    // What it says is all that is needed.
    const told = await deploy(['--context=stage=prod'], replies, { prod: JSON.parse(`{${setting}}`) })
    expect(told).toEqual({ code: 3, stdout: `cdk ${IMPORTS} --context=stage=prod\n`, stderr: '' })
  },
)

test('npm run deploy begins with empty tables if it is told so, and does not tell cdk', async () => {
  const { stdout } = await deploy(['-c', 'stage=prod', '--new-tables'], {
    [STACK]: NO_STACK,
    [TABLES]: tables(...KEPT),
  })
  expect(stdout).toBe(`cdk ${IMPORTS} -c stage=prod\n`)
  expect(readDocument('docs/operate.md')).toContain('--new-tables')
})

test.each([
  ['the stack', { [STACK]: { status: 403, body: DENIED } }],
  ['the tables', { [STACK]: NO_STACK, [TABLES]: { status: 400, body: DENIED } }],
])(
  'npm run deploy does not deploy prod without having seen %s, and names the rights that it needs',
  async (_, replies) => {
    const { code, stdout, stderr } = await deploy(['-c', 'stage=prod'], replies)
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(
      /could not be looked at \(AccessDenied.*cloudformation:DescribeStacks and dynamodb:ListTables/,
    )
  },
)

test('npm run deploy complains of settings and stages before it asks anybody', async () => {
  expect((await deploy(['-c', 'stage=nope'])).stderr).toMatch(/^There is no stage 'nope'/)
  expect((await deploy([], {}, { prod: { waf: 'on' } })).stderr).toMatch(/prod\.waf: Invalid option/)
  expect(account.asked).toEqual([])
})
