import type { JsonObject } from '../../layers/gateway/domain/basics/json-object.ts'
import { type ContractName, HTTP_ROUTES } from '../../layers/gateway/endpoints.ts'
import type { Step } from './history.ts'

type Call = Extract<Step, { do: 'call' }>

const MODEL = { model: 'simulated' }
/** The upstreams get their scripts in the field that names the user. */
const userOf = ({ scripts }: Call) => scripts.join('|')
const streamOf = ({ endpoint }: Call) => endpoint === 'stream' && { stream: true }
const capOf = (name: string, cap: number | undefined) => cap !== undefined && { [name]: cap }

/** The same question in the format of each contract, with a field that one dialect does not support. */
const QUESTIONS: Readonly<Record<ContractName, (call: Call) => JsonObject>> = {
  chat: (call) => ({
    ...MODEL,
    messages: [{ role: 'user', content: 'Hello' }],
    user: userOf(call),
    ...(call.logprobs && { logprobs: true }),
    ...streamOf(call),
    ...capOf('max_tokens', call.cap),
  }),
  responses: (call) => ({
    ...MODEL,
    input: 'Hello',
    user: userOf(call),
    ...(call.logprobs && { top_logprobs: 1 }),
    ...streamOf(call),
    ...capOf('max_output_tokens', call.cap),
  }),
  messages: (call) => ({
    ...MODEL,
    messages: [{ role: 'user', content: 'Hello' }],
    metadata: { user_id: userOf(call) },
    ...(call.logprobs && { top_k: 1 }),
    ...streamOf(call),
    max_tokens: call.cap ?? 1_000,
  }),
  completions: (call) => ({
    ...MODEL,
    prompt: 'Hello',
    user: userOf(call),
    ...(call.logprobs && { logprobs: 1 }),
    ...streamOf(call),
    ...capOf('max_tokens', call.cap),
  }),
  embeddings: (call) => ({
    model: 'embedding',
    input: ['Hello', 'there'],
    user: userOf(call),
    ...(call.logprobs && { truncate: 'END' }),
  }),
}

/** The path and body of a call that asks a model. */
export function questionOf(call: Call): { readonly path: string; readonly body: JsonObject } {
  const route = HTTP_ROUTES.find(({ endpoint }) => endpoint.contract === call.contract && !endpoint.countsOnly)
  if (!route) throw new Error(`No path leads to the contract '${call.contract}'.`)
  return { path: route.path, body: QUESTIONS[call.contract](call) }
}
