import type { JsonObject } from '../../layers/gateway/domain/basics/json-object.ts'
import { type ContractName, HTTP_ROUTES } from '../../layers/gateway/endpoints.ts'
import type { Step } from './history.ts'

type Call = Extract<Step, { do: 'call' }>

type Question = {
  readonly asks: JsonObject
  /** A field that one dialect does not support. */
  readonly lacking: JsonObject
  readonly cap?: string
}

const HELLO = { messages: [{ role: 'user', content: 'Hello' }] }

/** The same question in the format of each contract. */
const QUESTIONS: Readonly<Record<ContractName, Question>> = {
  chat: { asks: HELLO, lacking: { logprobs: true }, cap: 'max_tokens' },
  responses: { asks: { input: 'Hello' }, lacking: { top_logprobs: 1 }, cap: 'max_output_tokens' },
  // Its cap is required.
  messages: { asks: { ...HELLO, max_tokens: 1_000 }, lacking: { top_k: 1 }, cap: 'max_tokens' },
  completions: { asks: { prompt: 'Hello' }, lacking: { logprobs: 1 }, cap: 'max_tokens' },
  embeddings: { asks: { model: 'embedding', input: ['Hello', 'there'] }, lacking: { truncate: 'END' } },
}

function bodyOf({ contract, endpoint, scripts, logprobs, cap }: Call): JsonObject {
  const { asks, lacking, cap: capName } = QUESTIONS[contract]
  // The upstreams get their scripts in the field that names the user.
  const user = scripts.join('|')
  return {
    model: 'simulated',
    ...asks,
    ...(contract === 'messages' ? { metadata: { user_id: user } } : { user }),
    ...(logprobs && lacking),
    ...(capName && endpoint === 'stream' && { stream: true }),
    ...(capName && cap !== undefined && { [capName]: cap }),
  }
}

/** The path and body of a call that asks a model. */
export function questionOf(call: Call): { readonly path: string; readonly body: JsonObject } {
  const route = HTTP_ROUTES.find(({ endpoint }) => endpoint.contract === call.contract && !endpoint.countsOnly)
  if (!route) throw new Error(`No path leads to the contract '${call.contract}'.`)
  return { path: route.path, body: bodyOf(call) }
}
