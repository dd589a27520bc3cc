import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { waybill } from '../../support/command-line.ts'
import { emptyFolder } from '../../support/processes.ts'

/** A catalog as a person writes it: on some lines, with prices that end in 0. */
export const CATALOG = `{
  "providers": {
    "openai": { "type": "openai", "baseUrl": "https://api.openai.com/v1", "apiKey": "secret:openai" },
    "aws": { "type": "bedrock", "region": "us-east-1" },
    "echo": {"type":"openai","baseUrl":"local:echo"}
  },
  "models": [
    {
      "id": "small", "contextLength": 128000, "maxOutputTokens": 16384,
      "price": { "output": "12.00", "input": "3.00" },
      "routes": [{ "provider": "openai", "model": "gpt-4o", "cost": { "input": "2.50", "output": "10.00" } }]
    },
    {
      "id": "claude",
      "contextLength": 200000,
      "maxOutputTokens": 64000,
      "price": { "input": "3.6", "output": "18" },
      "routes": [
        {
          "provider": "aws",
          "model": "anthropic.claude-x"
        }
      ]
    },
    {
      "id": "vectors", "kind": "embedding", "contextLength": 8192, "dimensions": 3, "price": { "input": "0.024" },
      "routes": [{ "provider": "openai", "model": "embed" }]
    },
    {
      "id": "echo", "contextLength": 1000, "maxOutputTokens": 100, "price": { "input": "1", "output": "1" },
      "routes": [{ "provider": "echo", "model": "echo" }]
    }
  ]
}
`

type Cost = Readonly<Record<string, unknown>>

/** In the form of models.dev, with `gpt-4o` of OpenAI. */
export function modelsDev(cost: Cost, limit: object = { context: 128_000, output: 16_384 }, more: object = {}): object {
  return { openai: { id: 'openai', models: { 'gpt-4o': { id: 'gpt-4o', cost, limit, ...more } } } }
}

/** In the form of LiteLLM. */
export function litellm(fields: Cost, name = 'gpt-4o', provider = 'openai'): object {
  return {
    sample_spec: { litellm_provider: 'one of many', max_tokens: 'LEGACY parameter' },
    [name]: { litellm_provider: provider, ...fields },
  }
}

/** LiteLLM's fields for dollars a token. */
export const perToken = (input: number | string, output: number | string) => {
  return { input_cost_per_token: input, output_cost_per_token: output }
}

/** In the form of Portkey. */
export function portkey(prices: Cost, more: object = {}, currency = 'USD'): object {
  const zero = { request_token: { price: 0 }, response_token: { price: 0 } }
  return {
    default: { pricing_config: { pay_as_you_go: zero, currency } },
    'gpt-4o': { pricing_config: { pay_as_you_go: prices }, ...more },
  }
}

/** Files by their names. A text is written as it is. */
export type Lists = Readonly<Record<string, object | string>>

/** The end of the command, with the text of its proposal; undefined if none was written. */
export async function runPrices(lists: Lists, args: readonly string[] = [], catalog = CATALOG) {
  const folder = emptyFolder()
  writeFileSync(join(folder, 'catalog.json'), catalog)
  for (const [name, list] of Object.entries(lists)) {
    writeFileSync(join(folder, name), typeof list === 'string' ? list : JSON.stringify(list))
  }
  const from = Object.keys(lists).flatMap((name) => ['--from', name])
  const ended = await waybill(folder, ['catalog', 'prices', 'catalog.json', ...from, ...args])
  const file = join(folder, 'catalog.proposal.json')
  return { ...ended, proposal: existsSync(file) ? readFileSync(file, 'utf8') : undefined }
}

/** The models of a proposal. */
export async function proposedModels(...run: Parameters<typeof runPrices>) {
  const { proposal = '{}' } = await runPrices(...run)
  return JSON.parse(proposal).models
}

/** The lines that a proposal changes, without the comment. */
export function changedLines({ proposal = '' }: { proposal?: string | undefined }): string[] {
  const before = new Set(CATALOG.split('\n'))
  return proposal.split('\n').filter((line) => !before.has(line) && !line.includes('$comment') && line !== '  ],')
}
