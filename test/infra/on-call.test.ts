import { execFileSync } from 'node:child_process'
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from '@jest/globals'
import { UpstreamFailure } from '../../layers/gateway/domain/routing/upstream-failure.ts'
import type { UsageRow } from '../../layers/gateway/domain/rows/usage-row.ts'
import { OUTPUTS } from '../../layers/gateway/names.ts'
import { jsonLog } from '../../layers/gateway/platform/log/log.ts'
import { readDocument } from '../documents/support/markdown.ts'
import { emptyFolder } from '../support/processes.ts'
import { arnOf, type Statement, type Synthesized, synthesized, textOf } from './support/synthesized.ts'

let prod: Synthesized
let mailed: Synthesized
beforeAll(async () => {
  prod = await synthesized('prod')
  mailed = await synthesized('mailed')
}, 480_000)

const outputsOf = ({ template }: Synthesized) => template.json.Outputs
/** Without what CDK writes the first catalog with, which runs in a deployment only. */
const oursIn = ({ template }: Synthesized, type: string) =>
  Object.entries(template.findResources(type)).filter(([id]) => !/^(AWS|Catalog)/.test(id))
const functionsIn = (stack: Synthesized) => oursIn(stack, 'AWS::Lambda::Function')
const logsIn = (stack: Synthesized) => oursIn(stack, 'AWS::Logs::LogGroup')

function statementsOf(stack: Synthesized): Statement[] {
  const { Ref } = outputsOf(stack)[OUTPUTS.onCallPolicy].Value
  return stack.template.json.Resources[Ref]?.Properties.PolicyDocument.Statement
}

const actionsOn = (stack: Synthesized, isIt: (resources: unknown[]) => boolean) =>
  statementsOf(stack)
    .filter(({ Resource }) => isIt([Resource].flat()))
    .flatMap(({ Action }) => Action)

test('on-call changes the concurrency of the stage’s functions, and nothing else of a function', () => {
  const [lambda, ...more] = statementsOf(prod).filter(({ Action }) => JSON.stringify(Action).includes('lambda:'))
  expect(more).toEqual([])
  expect(lambda?.Action).toEqual([
    'lambda:DeleteFunctionConcurrency',
    'lambda:GetFunctionConcurrency',
    'lambda:PutFunctionConcurrency',
  ])
  const ours = functionsIn(prod).map(([id]) => arnOf(id))
  expect(lambda?.Resource).toEqual(expect.arrayContaining(ours))
  expect(lambda?.Resource).toHaveLength(ours.length)
})

test('on-call stops rollouts of this stage only', () => {
  const { Ref } = outputsOf(prod)[OUTPUTS.rollout].Value
  const group = `arn:<AWS::Partition>:codedeploy:<AWS::Region>:<AWS::AccountId>:deploymentgroup:<${Ref}>/*`
  expect(actionsOn(prod, ([resource]) => textOf(resource) === group)).toContain('codedeploy:StopDeployment')
  expect(JSON.stringify(statementsOf(prod)).match(/codedeploy:StopDeployment/g)).toHaveLength(1)
})

test('on-call reads the logs of this stage only: of every function, every API and the firewall', () => {
  const [logs, ...more] = statementsOf(mailed).filter(({ Action }) => Action.includes('logs:FilterLogEvents'))
  expect(more).toEqual([])
  const groups = logsIn(mailed).map(([id]) => arnOf(id))
  const firewall = 'logs:us-east-1:<AWS::AccountId>:log-group:aws-waf-logs-Waybill-prod-firewall-eu-west-1:*'
  const resources = [logs?.Resource].flat()
  expect(resources.filter((it) => !groups.some((group) => JSON.stringify(group) === JSON.stringify(it)))).toHaveLength(
    1,
  )
  expect(textOf(resources.at(-1))).toBe(`arn:<AWS::Partition>:${firewall}`)
  expect(resources.length).toBe(groups.length + 1)
})

test('on-call writes the status of keys, and reads or writes nothing else of a table', () => {
  const [table, ...more] = statementsOf(prod).filter(({ Action }) => JSON.stringify(Action).includes('dynamodb:'))
  expect(more).toEqual([])
  expect(table).toEqual({
    Action: 'dynamodb:UpdateItem',
    Effect: 'Allow',
    Resource: expect.anything(),
    Condition: {
      'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': ['KEY#*'] },
      'ForAllValues:StringEquals': { 'dynamodb:Attributes': ['pk', 'sk', 'status'] },
      StringEqualsIfExists: { 'dynamodb:ReturnValues': ['NONE', 'UPDATED_OLD', 'UPDATED_NEW'] },
    },
  })
  expect(textOf(table?.Resource)).toMatch(/^<TablesKeys\w+\.Arn>$/)
})

test('everything else that on-call may do is to read, and neither a table nor a secret nor a function’s settings', () => {
  const all = statementsOf(mailed).flatMap(({ Action }) => Action)
  const changing = [
    ...['lambda:PutFunctionConcurrency', 'lambda:DeleteFunctionConcurrency', 'codedeploy:StopDeployment'],
    'dynamodb:UpdateItem',
  ]
  const rest = all.filter((action) => !changing.includes(action))
  expect(rest.filter((action) => !/:(Get|List|Describe|Filter|StartQuery|StopQuery)/.test(action))).toEqual([])
  expect(all.filter((action) => /^(secretsmanager|s3|kms|iam|sts):/.test(action))).toEqual([])
  expect(all.filter((action) => /^lambda:/.test(action) && !/Concurrency$/.test(action))).toEqual([])
})

test('every function, its log and every other log has an output, and so has the dashboard', () => {
  const outputs = outputsOf(mailed)
  for (const [id, { Properties }] of functionsIn(mailed)) {
    const values = Object.values(outputs).map(({ Value }) => JSON.stringify(Value))
    expect(values).toContain(JSON.stringify({ Ref: id }))
    expect(values).toContain(JSON.stringify(Properties.LoggingConfig.LogGroup))
  }
  const logs = Object.keys(outputs).filter((name) => name.endsWith('Logs'))
  expect(logs).toHaveLength(logsIn(mailed).length + 1)
  expect(outputs.FirewallLogs.Value).toBe('aws-waf-logs-Waybill-prod-firewall-eu-west-1')
  expect(outputs.ChatFunction.Value).toEqual({ Ref: mailed.functions.chat })
  expect(textOf(outputs[OUTPUTS.dashboard].Value)).toMatch(
    /^https:.*#dashboards\/dashboard\/Waybill-prod-<AWS::Region>$/,
  )
})

test('the saved queries look into the log of every function, for fields that its lines have', () => {
  const queries = Object.values(prod.template.findResources('AWS::Logs::QueryDefinition')).map((it) => it.Properties)
  expect(queries.map(({ Name }) => Name).toSorted()).toEqual(
    ['by key', 'by level', 'by request id'].map((name) => `Waybill-prod/${name}`),
  )
  for (const { QueryString, LogGroupNames } of queries) {
    expect(LogGroupNames).toHaveLength(functionsIn(prod).length)
    const [shown = '', filter = ''] = QueryString.replace('fields ', '').split(' | filter ')
    const fields: string[] = [...shown.split(', '), filter.split(' ')[0] ?? '']
    expect(fields.filter((field) => !/^@(timestamp|log)$/.test(field) && !writtenFields().has(field))).toEqual([])
  }
})

/** The fields of every kind of line that the gateway writes. */
function writtenFields(): Set<string> {
  const lines: string[] = []
  const log = jsonLog((line) => lines.push(line), 'prod')
  log.request({
    requestId: 'req_1',
    keyId: 'key_1',
    httpStatus: 500,
    errorCode: 'x',
    durationMs: 1,
    cost: 1n,
    hold: 1n,
  } as UsageRow)
  log.upstreamFailed('up', new UpstreamFailure('credential', 'gone'))
  log.problem('what', new Error('x'), 'req_1')
  const paths = (value: object): string[] =>
    Object.entries(value).flatMap(([name, inner]) =>
      typeof inner === 'object' && inner ? paths(inner).map((path) => `${name}.${path}`) : [name],
    )
  return new Set(lines.flatMap((line) => paths(JSON.parse(line))))
}

const section = () => readDocument('docs/operate.md').split('\n## On call\n')[1]?.split('\n## ')[0] ?? ''

/** The lines of the section that call AWS, as they are pasted one after the other. */
const pasted = () =>
  [...section().matchAll(/^```sh\n(.*?)^```$/gms)]
    .flatMap(([, block = '']) => block.split('\n'))
    .filter((line) => !line.startsWith('npm run '))
    .join('\n')

const FAKE_AWS = `#!/bin/sh
echo "$*" >> "$CALLS"
case "$*" in
  *OutputKey==*) echo "the-$(echo "$*" | sed "s/.*OutputKey=='\\([A-Za-z]*\\)'.*/\\1/")" ;;
  *list-deployment-groups*) printf 'group-1\\tgroup-2\\n' ;;
  *list-deployments*) echo d-1 ;;
esac
`

test('the commands of the runbook can be pasted into a shell, and do what their headings say', () => {
  const folder = emptyFolder()
  const calls = join(folder, 'calls')
  writeFileSync(join(folder, 'aws'), FAKE_AWS)
  chmodSync(join(folder, 'aws'), 0o755)
  const env = { PATH: `${folder}:${process.env.PATH}`, CALLS: calls }
  execFileSync('sh', ['-eu', '-c', pasted()], { env, stdio: 'ignore' })
  const called = readFileSync(calls, 'utf8')
    .split('\n')
    .filter((call) => !call.startsWith('cloudformation'))
  const concurrency = 'put-function-concurrency --function-name the-ChatFunction --reserved-concurrent-executions'
  expect(called.filter((call) => call.startsWith('lambda '))).toEqual([
    `lambda ${concurrency} 0`,
    `lambda ${concurrency} 500`,
    'lambda delete-function-concurrency --function-name the-ChatFunction',
    `lambda ${concurrency} 800`,
  ])
  expect(called.filter((call) => call.startsWith('deploy stop-deployment'))).toEqual(
    Array.from({ length: 2 }, () => 'deploy stop-deployment --auto-rollback-enabled --deployment-id d-1'),
  )
  expect(called.join('\n')).toContain('logs tail the-ChatLogs')
  expect(called.join('\n')).toContain('secretsmanager put-secret-value --secret-id waybill/prod/openai')
})

test('the runbook asks the stack for outputs that it has', () => {
  const asked = [...pasted().matchAll(/\boutput ([A-Z]\w+)/g)].map(([, name = '']) => name)
  expect(asked.length).toBeGreaterThan(3)
  expect(asked.filter((name) => !(name in outputsOf(prod)))).toEqual([])
  const named = [...section().matchAll(/`([A-Z]\w+Logs)`/g)].map(([, name = '']) => name)
  expect(named.filter((name) => !(name in outputsOf(mailed)))).toEqual([])
})
