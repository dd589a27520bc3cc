import { tmpdir } from 'node:os'
import { expect, test } from '@jest/globals'
import { SCOPES } from '../../layers/gateway/endpoints.ts'
import { openClient } from '../clients/support/client.ts'
import { catalogFor } from '../support/gateway.ts'
import { openFor, openUpstream } from '../support/stack.ts'
import { goodModel } from './support/good-model.ts'

// Programs of others that look for faults in an endpoint of OpenAI's kind. Each is installed once from npm, outside the project.

const upstream = await openUpstream(goodModel)
const gateway = await openFor(catalogFor(upstream.url))
const { secret } = await gateway.issue({ credits: '1000', rpm: 60_000, scopes: SCOPES })
const baseUrl = `${gateway.baseUrl}/v1`
const place = { cwd: tmpdir(), env: { ...process.env, OPENAI_API_KEY: secret } }

const scan = await openClient('compatcanary', '0.2.2', 'compatcanary')
const probe = await openClient('llmprobe', '0.6.12', 'llmprobe')

const testScan = scan ? test : test.skip
const testProbe = probe ? test : test.skip

testScan('compatcanary finds nothing that is not as OpenAI has it', async () => {
  const args = ['scan', '--base-url', baseUrl, '--model', 'test-model', '--format', 'json']
  const { stdout = '', stderr } = (await scan?.(args, place)) ?? {}
  const { results } = JSON.parse(stdout) as { results: { id: string; status: string }[] }
  expect({ stderr, failed: results.filter(({ status }) => status !== 'pass') }).toEqual({ stderr: '', failed: [] })
  expect(results.length).toBeGreaterThanOrEqual(7)
})

/** Its schema has no `citations: null` in a text of Messages, which is how Anthropic has a text without any. */
const ITS_OWN = ['messages-basic', 'messages-streaming', 'messages-reasoning-roundtrip']

type Check = {
  readonly id: string
  readonly surface: string
  readonly outcome: string
  readonly failures: readonly { severity: string; message: string }[]
}

testProbe('llmprobe, which has the suite of Open Responses, finds no fault but one of its own', async () => {
  const args = [baseUrl, '-k', secret, '-m', 'test-model', '--no-bench', '--no-save', '--json']
  const { stdout = '' } = (await probe?.(args, place)) ?? {}
  const { conformance, coverage } = JSON.parse(stdout)
  const results = conformance.results as Check[]
  const failed = results.filter(({ outcome }) => !['pass', 'inconclusive', 'unsupported', 'skipped'].includes(outcome))
  expect(failed.filter(({ id }) => !ITS_OWN.includes(id))).toEqual([])
  const musts = failed.flatMap(({ failures }) => failures).map(({ message }) => message)
  expect(musts.filter((message) => !/^content(_block|\.\d+): Invalid input$/.test(message))).toEqual([])
  for (const surface of ['models', 'chat', 'responses', 'messages', 'completions']) {
    const passed = results.filter((check) => check.surface === surface && check.outcome === 'pass')
    expect({ surface, hasPassed: passed.length > 0 }).toEqual({ surface, hasPassed: true })
  }
  expect(coverage.byTier[0]).toMatchObject({ tier: 'core', missing: [], unprobed: [] })
})
