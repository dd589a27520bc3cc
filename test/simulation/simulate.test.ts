import { expect, test } from '@jest/globals'
import { COUNTER_NAMES } from '../../layers/gateway/domain/admission/counters.ts'
import { KEY_DEFAULTS, newKey } from '../../layers/gateway/domain/keys/new-key.ts'
import { ADMISSION_RULES } from '../../layers/gateway/store/admission/admission-rules.ts'
import { emptyFolder, run } from '../support/processes.ts'
import { VARIANTS } from './variants.ts'

const simulate = (...args: string[]) => run('test/simulation/simulate.ts', args, emptyFolder()).ended

test('the simulator refuses invalid arguments with exit code 2', async () => {
  const refused = await Promise.all([simulate('--histories', '0'), simulate('--broken', 'everything')])
  expect(refused).toMatchObject([
    { code: 2, stderr: expect.stringContaining("not '0'") },
    { code: 2, stderr: expect.stringContaining('a request settles twice') },
  ])
})

test('each rule of admission has a variant of the gateway that admits without it, for the simulator to catch', () => {
  const nowMs = Date.UTC(2026, 10, 15, 12)
  const stored = { hash: '', lastFour: '' }
  const settings = { ...KEY_DEFAULTS, name: 'test', ...Object.fromEntries(COUNTER_NAMES.map((name) => [name, 1])) }
  const key = newKey({ settings, credits: 0n, prefix: 'svc_live_', stored }, nowMs, new Uint8Array(10))
  const demand = { requestId: 'req_1', hash: '', nowMs, hold: 1n, tokens: 1n, holdUntilMs: nowMs + 1 }
  const uncaught = ADMISSION_RULES.filter(({ condition }) => {
    const command = { constructor: Object, input: { ConditionExpression: condition(key, demand, {}) } }
    return !VARIANTS.some(({ rewrite }) => rewrite && rewrite(command, nowMs) !== command)
  })
  expect(uncaught.map(({ refusal }) => refusal)).toEqual([])
})
