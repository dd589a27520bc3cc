import { Console } from 'node:console'
import { expect, test } from '@jest/globals'
import { preflight } from '../../infra/preflight/preflight.ts'
import { logsOutput, OUTPUTS } from '../../layers/gateway/names.ts'
import { stageOfFile } from '../cli/support/commands.ts'
import { accountOfTests, IDENTITY, json, noStack, toolkit } from '../infra/support/aws-account.ts'
import { runHere } from '../support/command-line.ts'
import { blocksOf, readDocument } from './support/markdown.ts'

const PAGE = 'docs/first-deployment.md'
const [ofPreflight = '', ofSmoke = ''] = blocksOf(PAGE, 'text')

const account = await accountOfTests()

test('the page of the first deployment has what preflight prints on an account that is ready', async () => {
  account.replies = {
    GetCallerIdentity: IDENTITY,
    'DescribeStacks CDKToolkit': toolkit('30'),
    'DescribeStacks Waybill-dev': noStack('x'),
    ListTables: json({ TableNames: [] }),
    'GET /2016-08-19/account-settings': json({
      AccountLimit: { ConcurrentExecutions: 1_000, UnreservedConcurrentExecutions: 1_000 },
    }),
  }
  const { stdout } = await runHere(
    ({ output, errors }) => preflight(['--stage', 'dev'], new Console(output, errors)),
    account.env,
  )
  expect(stdout).toBe(ofPreflight)
})

test('it has every line that smoke prints, in their order, and no output that the stack has not', async () => {
  const { run } = await stageOfFile()
  const { stdout } = await run('smoke')
  const checks = (text: string) => [...text.matchAll(/^(?:ok|n\/a) +([^:\n]+)/gm)].map(([, check]) => check)
  expect(checks(ofSmoke)).toEqual(checks(stdout))
  const told = /^ok .*: (off, )\d+( bytes .*)$/m
  expect(told.exec(ofSmoke)?.slice(1)).toEqual(told.exec(stdout)?.slice(1))
  const named = [...readDocument(PAGE).matchAll(/output `(\w+)`/g)].map(([, name]) => name)
  expect(named).toEqual([OUTPUTS.dashboard, logsOutput('Chat'), OUTPUTS.usageTable])
})
