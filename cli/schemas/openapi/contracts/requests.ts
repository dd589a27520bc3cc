import { z } from 'zod'
import { COMPLETION_FIELDS } from '../../../../layers/gateway/contracts/completions/completion-request.ts'
import { EMBEDDING_FIELDS } from '../../../../layers/gateway/contracts/embeddings/embeddings.ts'
import { MESSAGES_FIELDS } from '../../../../layers/gateway/contracts/messages/messages-fields.ts'
import { OWN_WORDS } from '../../../../layers/gateway/contracts/responses/own-words.ts'
import { RESPONSES_FIELDS } from '../../../../layers/gateway/contracts/responses/responses-fields.ts'
import type { KnownRows } from '../../../../layers/gateway/wire/basics/shape.ts'
import { CHAT_FIELDS } from '../../../../layers/gateway/wire/chat/chat-fields.ts'
import type { Json } from '../json-schema.ts'
import { describedBy } from './parts.ts'
import { namedSchemas, requestSchema } from './request-schema.ts'

// The requests of OpenAI's and Anthropic's contracts. A field is described here only if this gateway adds to its meaning.

/** A schema that is written already. */
const written = (schema: Json) => z.any().meta(schema)
export const NAMED_PARTS = Object.fromEntries(
  Object.entries(namedSchemas()).map(([name, schema]) => [name, written(schema)]),
)

const rowsOf = ({ shapes }: KnownRows) => Object.fromEntries(shapes)

/** A name of chat's for a field that has another here is refused. */
const RESPONSES_ROWS = Object.fromEntries([...RESPONSES_FIELDS.shapes].filter(([field]) => !OWN_WORDS.has(field)))

const OUTPUT_CAP = 'Without it, or if it is larger, the model’s own maximum holds.'
const HOSTED_TOOLS = 'Tools that you run. A tool that a provider runs may cost extra, and is a 400.'
const common = {
  model: 'The id of a model that GET /v1/models lists.',
  stream: 'True for a stream of server-sent events.',
}
const STREAM_OPTIONS = 'Only with "stream": true. `include_usage` adds a last chunk with the usage and its cost.'

export const ChatCompletionRequest = written({
  ...requestSchema({
    description: 'OpenAI’s request for a chat completion.',
    fields: CHAT_FIELDS,
    required: ['model', 'messages'],
    words: {
      ...common,
      max_tokens: OUTPUT_CAP,
      max_completion_tokens: 'The same as max_tokens, under OpenAI’s newer name. The larger of both counts.',
      stream_options: STREAM_OPTIONS,
      tools: HOSTED_TOOLS,
    },
  }),
  ...describedBy('OpenAI', 'chat/create'),
})

export const ResponseRequest = written({
  ...requestSchema({
    description: 'OpenAI’s request for a response. Nothing is stored, and only tokens are billed.',
    fields: RESPONSES_ROWS,
    required: ['model', 'input'],
    words: {
      ...common,
      input: 'A text, or items. A reference to an item is a 400.',
      max_output_tokens: OUTPUT_CAP,
      store: 'Accepted; nothing is stored.',
      background: 'False: an answer cannot be fetched later.',
      tools: HOSTED_TOOLS,
    },
  }),
  ...describedBy('OpenAI', 'responses/create'),
})

export const CompletionRequest = written({
  ...requestSchema({
    description: 'OpenAI’s request for a text completion.',
    fields: rowsOf(COMPLETION_FIELDS),
    required: ['model', 'prompt'],
    words: {
      ...common,
      prompt: 'A text, texts, token ids, or lists of token ids. Anthropic and Bedrock take one text.',
      n: 'Choices for each prompt; at most 128 in all.',
      best_of: 'Must be n: choices that nobody gets are billed, too.',
      echo: 'Each choice begins with its prompt, which is not charged as an answer. Not with logprobs or token ids; at most 1,048,576 characters are repeated.',
      suffix: 'Not with Anthropic and Bedrock.',
      stream_options: STREAM_OPTIONS,
    },
  }),
  ...describedBy('OpenAI', 'completions/create'),
})

export const EmbeddingRequest = written({
  ...requestSchema({
    description: 'OpenAI’s request for embeddings.',
    fields: rowsOf(EMBEDDING_FIELDS),
    required: ['model', 'input'],
    words: {
      model: 'The id of a model whose `contracts` has embeddings.',
      input: 'A text, texts, token ids, or lists of token ids. One answer has at most 3,145,728 numbers.',
      dimensions: 'Numbers in a vector: at most those of the model, which are the default.',
    },
  }),
  ...describedBy('OpenAI', 'embeddings/create'),
})

const counted = { fields: rowsOf(MESSAGES_FIELDS), required: ['model', 'messages'] }

export const MessagesCountRequest = written({
  ...requestSchema({
    ...counted,
    description: 'Anthropic’s request for a message, or for the count of its tokens.',
    words: {
      ...common,
      max_tokens: OUTPUT_CAP,
      tools: 'Tools that you run, and Anthropic’s bash, text_editor and memory. Those that Anthropic runs are a 400.',
    },
  }),
  ...describedBy('Anthropic', 'messages-count-tokens'),
})

export const MessagesRequest = written({
  description: 'Anthropic’s request for a message: one for a count, and an output cap.',
  allOf: [{ $ref: '#/components/schemas/MessagesCountRequest' }, { type: 'object', required: ['max_tokens'] }],
  ...describedBy('Anthropic', 'messages'),
})
