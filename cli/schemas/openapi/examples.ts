import { usageRecord } from '../../../layers/gateway/wire/rows/usage-record.ts'
import type { PublicPath } from './operations.ts'

// Answers of the model echo, which every local gateway has, as they came.

export type Example = {
  readonly request?: object
  /** The query with which the answer came. */
  readonly query?: string
  readonly answer: object
  /** The events of the same answer as a stream, the first and the last of its kinds. */
  readonly stream?: readonly object[]
}

const ULID = '01M7FFKAFZ3S9E6FHM2B2K4FDK'
const KEY_ID = 'key_01M7FFK9SBW75KHEG26BTEYV3K'
const SECONDS = 1_794_742_266
const conversation = { model: 'echo', messages: [{ role: 'user', content: 'Hello' }] }

const usage = {
  prompt_tokens: 1,
  completion_tokens: 2,
  total_tokens: 3,
  prompt_tokens_details: { cached_tokens: 0 },
  cost: 0.00000135,
}

const said = { index: 0, logprobs: null, finish_reason: 'stop' }
const saying = { index: 0, logprobs: null, finish_reason: null }

const completion = { id: `chatcmpl-${ULID}`, object: 'chat.completion', created: SECONDS, model: 'echo' }
const message = { role: 'assistant', content: 'echo: Hello', refusal: null }
const chunk = { ...completion, object: 'chat.completion.chunk' }

const textCompletion = { id: `cmpl-${ULID}`, object: 'text_completion', created: SECONDS, model: 'echo' }

const spoken = { type: 'output_text', text: 'echo: Hello', annotations: [], logprobs: [] }
const item = { id: `msg_${ULID}_0`, type: 'message', status: 'completed', role: 'assistant', content: [spoken] }
const response = {
  id: `resp_${ULID}`,
  object: 'response',
  created_at: SECONDS,
  model: 'echo',
  status: 'completed',
  background: false,
  error: null,
  incomplete_details: null,
  instructions: null,
  max_output_tokens: null,
  max_tool_calls: null,
  metadata: {},
  parallel_tool_calls: true,
  previous_response_id: null,
  prompt_cache_key: null,
  reasoning: { effort: null, summary: null },
  safety_identifier: null,
  service_tier: 'default',
  store: false,
  temperature: 1,
  text: { format: { type: 'text' } },
  tool_choice: 'auto',
  tools: [],
  top_logprobs: 0,
  top_p: 1,
  truncation: 'disabled',
  output: [item],
  usage: {
    input_tokens: 1,
    input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
    output_tokens: 2,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 3,
    cost: 0.00000135,
  },
}

const counts = {
  input_tokens: 1,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  output_tokens: 2,
  output_tokens_details: null,
  server_tool_use: null,
  cost: 0.00000135,
}
const details = {
  cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
  inference_geo: null,
  service_tier: 'standard',
  speed: null,
}
const ended = { stop_reason: 'end_turn', stop_sequence: null, stop_details: null, container: null }

const price = { input: '0.15', output: '0.60', cachedInput: '0.075' }
const model = {
  id: 'echo',
  object: 'model',
  created: 1_760_000_000,
  owned_by: 'waybill',
  name: 'Echo',
  kind: 'chat',
  contracts: ['chat', 'responses', 'messages', 'completions'],
  context_length: 128_000,
  max_output_tokens: 4_096,
  pricing: { prompt: '0.00000015', completion: '0.0000006', input_cache_read: '0.000000075' },
}

const record = usageRecord({
  requestId: `req_${ULID}`,
  keyId: KEY_ID,
  startedAtMs: SECONDS * 1000,
  endpoint: 'chat.completions',
  contract: 'chat',
  outcome: 'completed',
  httpStatus: 200,
  model: 'echo',
  provider: 'echo',
  upstreamModel: 'echo',
  stream: false,
  promptTokens: 1,
  completionTokens: 2,
  cachedTokens: 0,
  usageSource: 'upstream',
  usageRejected: false,
  cost: 1_350n,
  hold: 2_479_050n,
  priceVersion: 1,
  price,
  attempts: [{ provider: 'echo', model: 'echo', result: 'ok', ms: 7 }],
  durationMs: 201,
})

export const EXAMPLES: Readonly<Record<PublicPath, Example>> = {
  '/v1/chat/completions': {
    request: conversation,
    answer: { ...completion, choices: [{ ...said, message }], usage },
    stream: [
      { ...chunk, choices: [{ ...saying, delta: { role: 'assistant', content: 'echo: ' } }] },
      { ...chunk, choices: [{ ...said, delta: {} }] },
    ],
  },
  '/v1/responses': {
    request: { model: 'echo', input: 'Hello' },
    answer: response,
    stream: [
      {
        type: 'response.output_text.delta',
        sequence_number: 4,
        output_index: 0,
        item_id: item.id,
        content_index: 0,
        delta: 'echo: ',
        logprobs: [],
      },
      { type: 'response.completed', sequence_number: 9, response },
    ],
  },
  '/v1/completions': {
    request: { model: 'echo', prompt: 'Hello', max_tokens: 16 },
    answer: { ...textCompletion, choices: [{ ...said, text: 'echo: Hello' }], usage },
    stream: [
      { ...textCompletion, choices: [{ ...saying, text: 'echo: ' }] },
      { ...textCompletion, choices: [{ ...said, text: '' }] },
    ],
  },
  '/v1/embeddings': {
    request: { model: 'text-embedding-3-small', input: ['Hello', 'there'], dimensions: 2 },
    answer: {
      object: 'list',
      data: [
        { object: 'embedding', index: 0, embedding: [0.6, 0.8] },
        { object: 'embedding', index: 1, embedding: [0.8, -0.6] },
      ],
      model: 'text-embedding-3-small',
      usage: { prompt_tokens: 2, total_tokens: 2, cost: 0.00000004 },
    },
  },
  '/v1/messages': {
    request: { ...conversation, max_tokens: 16 },
    answer: {
      id: `msg_${ULID}`,
      type: 'message',
      role: 'assistant',
      model: 'echo',
      content: [{ type: 'text', text: 'echo: Hello', citations: null }],
      diagnostics: null,
      ...ended,
      usage: { ...counts, ...details },
    },
    stream: [
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'echo: ' } },
      { type: 'message_delta', delta: ended, usage: counts },
      { type: 'message_stop' },
    ],
  },
  '/v1/messages/count_tokens': { request: conversation, answer: { input_tokens: 10 } },
  '/v1/models': { answer: { object: 'list', data: [model] } },
  '/v1/models/{id+}': { answer: model },
  '/v1/key/introspect': {
    answer: {
      object: 'api_key',
      id: KEY_ID,
      name: 'demo',
      status: 'active',
      scopes: ['chat.completions', 'models.read'],
      balance: '99.9999973',
      held: '0',
      spent: '0.0000027',
      key: { prefix: 'svc_live_', last_four: 'hnd6', state: 'current', expires_at: null },
      limits: {
        rpm: { limit: 600, remaining: 599, reset: 1 },
        daily: { limit: 100_000, remaining: 99_995, reset: 44_934 },
        concurrent: { limit: 200, in_use: 0 },
        daily_credits: { limit: '5', remaining: '4.9999973', reset: 44_934 },
        monthly_credits: null,
      },
      models: ['echo', 'claude-*'],
      allowlist: [],
      created_at: 1_794_742_265,
    },
  },
  '/v1/credits': { answer: { data: { total_credits: 100, total_usage: 0.0000027 } } },
  '/v1/usage': {
    query: '?limit=1',
    answer: { object: 'list', data: [record], has_more: true, last_id: `req_${ULID}` },
  },
  '/v1/usage/{id+}': { answer: record },
  '/v1/quote': {
    request: { endpoint: '/v1/chat/completions', body: conversation },
    answer: {
      object: 'quote',
      endpoint: '/v1/chat/completions',
      model: 'echo',
      catalog_version: 1,
      prompt_tokens: { estimated: 8, most: 141 },
      output_tokens: { most: 4096, choices: 1, covered: { balance: 4096, daily_credits: 4096, monthly_credits: null } },
      hold: '0.00247875',
      cost: { without_output: '0.0000012', with_most_output: '0.0024588' },
      refusal: null,
    },
  },
}
