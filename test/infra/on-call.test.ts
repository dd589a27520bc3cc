import { execFileSync } from 'node:child_process'
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { UpstreamFailure } from '../../layers/gateway/domain/routing/upstream-failure.ts'
import type { UsageRow } from '../../layers/gateway/domain/rows/usage-row.ts'
import { OUTPUTS } from '../../layers/gateway/names.ts'
import { jsonLog } from '../../layers/gateway/platform/log/log.ts'
import { readDocument } from '../documents/support/markdown.ts'
import { emptyFolder } from '../support/processes.ts'
import { type Synthesized, synthesized } from './support/synthesized.ts'

const prod = await synthesized('prod')
const mailed = await synthesized('mailed')

/** Without what CDK writes the first catalog with, which runs in a deployment only. */
const oursIn = (stack: Synthesized, type: string) =>
  Object.entries(stack.of(type)).filter(([path]) => !/^(AWS|Catalog)/.test(path))

test('every function, its log and every other log has an output, and so has the dashboard', () => {
  const { outputs } = mailed
  const functions = oursIn(mailed, 'AWS::Lambda::Function')
  const needed = functions.flatMap(([path, { LoggingConfig }]) => [`<${path}>`, LoggingConfig.LogGroup])
  expect(Object.values(outputs)).toEqual(expect.arrayContaining(needed))
  const logs = Object.keys(outputs).filter((name) => name.endsWith('Logs'))
  expect(logs).toHaveLength(oursIn(mailed, 'AWS::Logs::LogGroup').length + 1)
  expect(outputs.FirewallLogs).toBe('aws-waf-logs-Waybill-prod-firewall-eu-west-1')
  expect(outputs.ChatFunction).toBe('<Functions/Chat>')
  expect(outputs[OUTPUTS.dashboard]).toMatch(/^https:.*#dashboards\/dashboard\/Waybill-prod-<AWS::Region>$/)
})

test('the saved queries look into the log of every function, for fields that its lines have', () => {
  const queries = Object.values(prod.of('AWS::Logs::QueryDefinition'))
  expect(queries.map(({ Name }) => Name).toSorted()).toEqual(
    ['by key', 'by level', 'by request id'].map((name) => `Waybill-prod/${name}`),
  )
  const written = writtenFields()
  for (const { QueryString, LogGroupNames } of queries) {
    expect(LogGroupNames).toHaveLength(oursIn(prod, 'AWS::Lambda::Function').length)
    const [shown = '', filter = ''] = QueryString.replace('fields ', '').split(' | filter ')
    const fields: string[] = [...shown.split(', '), filter.split(' ')[0] ?? '']
    expect(fields.filter((field) => !/^@(timestamp|log)$/.test(field) && !written.has(field))).toEqual([])
  }
})

/** The fields of every kind of line that the gateway writes. */
function writtenFields(): Set<string> {
  const lines: string[] = []
  const log = jsonLog((line) => lines.push(line), 'prod')
  const ids = { requestId: 'req_1', keyId: 'key_1' }
  log.request({ ...ids, httpStatus: 500, errorCode: 'x', durationMs: 1, cost: 1n, hold: 1n } as UsageRow)
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
  expect(asked.filter((name) => !(name in prod.outputs))).toEqual([])
  const named = [...section().matchAll(/`([A-Z]\w+Logs)`/g)].map(([, name = '']) => name)
  expect(named.filter((name) => !(name in mailed.outputs))).toEqual([])
})
