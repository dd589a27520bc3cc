import { writeFileSync } from 'node:fs'
import { describe, expect, test } from '@jest/globals'
import { openDialects } from '../providers/support/every-dialect.ts'
import { probesOf, type Probe } from './support/probe-coverage.ts'

const CALLS = { webSearch: '0.01', webFetch: '0.01', fileSearch: '0.01', codeExecution: '0.01', imageGeneration: '0.01', mcpCall: '0.01' }
const price = { input: '1', output: '2', cacheWrite: '1.25', cacheWrite1h: '2', ...CALLS }
const { ask } = await openDialects({ model: { price, contextLength: 1_000_000 } })
const KINDS = ['chat', 'responses', 'anthropic', 'bedrock'] as const
type Contract = 'chat' | 'responses' | 'messages'

async function outcome(contract: Contract, kind: (typeof KINDS)[number], { value, request, base }: Probe) {
  const { status, sent, headers, answer } = await ask(contract, kind, request)
  if (status !== 200) return `refused ${answer.slice(0, 300)}`
  const plain = await ask(contract, kind, base)
  const isSame = JSON.stringify(sent) === JSON.stringify(plain.sent)
  const reported = headers.get('x-svc-dropped-fields')
  if (!isSame) return JSON.stringify(sent).includes(JSON.stringify(value)) ? 'passed' : `translated ${reported ?? ''}`
  return reported ? 'left out' : 'not needed'
}

describe('probe', () => {
  test('x', async () => {
    const lines = []
    for (const contract of ['chat', 'responses', 'messages'] as const)
      for (const isFull of [false, true])
        for (const probe of probesOf(contract, isFull)) {
          const found = []
          for (const kind of KINDS) found.push(await outcome(contract, kind, probe))
          lines.push([contract, isFull, probe.group, probe.name, found, found.some((f) => f.startsWith('refused')) ? probe.value : 0])
        }
    writeFileSync('/tmp/probe.json', JSON.stringify(lines, null, 0))
    expect(lines.length).toBeGreaterThan(100)
  }, 300_000)
})
