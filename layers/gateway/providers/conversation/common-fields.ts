import type { JsonObject } from '../../domain/basics/json-object.ts'
import { isObject } from '../../wire/basics/field-rules.ts'
import { CHAT_FIELDS } from '../../wire/chat/chat-fields.ts'
import { unsupported } from '../verdict.ts'
import {
  DROPPED,
  type FieldRow,
  type FieldRows,
  type FieldTable,
  fieldTable,
  IGNORED,
  READ,
  rows,
} from './field-table.ts'

/** Fields that every dialect but OpenAI's own must have a row for. */
type OwnField =
  | 'messages'
  | 'tools'
  | 'tool_choice'
  | 'parallel_tool_calls'
  | 'response_format'
  | 'reasoning_effort'
  | 'temperature'
  | 'top_p'
  | 'stop'

export function chatFieldTable(own: FieldRows & Readonly<Record<OwnField, FieldRow>>): FieldTable {
  return fieldTable({ ...COMMON, ...own })
}

export const HINTS = Object.keys(CHAT_FIELDS).filter((name) => CHAT_FIELDS[name]?.isHint)

const COMMON: FieldRows = {
  ...rows(['model', 'stream', 'stream_options', 'max_tokens', 'max_completion_tokens'], () => READ),
  ...rows(HINTS, () => IGNORED),
  // Not every model can be told how to think.
  ...rows(['thinking', 'enable_thinking', 'thinking_budget', 'chat_template_kwargs', 'reasoning'], () => DROPPED),
  n: { refuses: (value) => (value === 1 ? undefined : 'must be 1: this model gives one answer to a request') },
  logprobs: {
    refuses: (value) => (value === true ? 'must be false: this model gives no log probabilities' : undefined),
  },
  top_logprobs: { refuses: (value) => (value === 0 ? undefined : 'must be 0: this model gives no log probabilities') },
  logit_bias: { refuses: (value) => (isEmpty(value) ? undefined : 'must be empty: this model takes no biases') },
  functions: { refuses: (value) => (isEmpty(value) ? undefined : "must be left out: use 'tools' with this model") },
  function_call: {
    refuses: (value) => (value === 'none' ? undefined : "must be left out: use 'tool_choice' with this model"),
  },
  prompt: { refuses: () => 'must be one text, and no token ids, with this model' },
  suffix: { refuses: () => 'must be left out: this model writes no text before another' },
}

function isEmpty(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0
  return isObject(value) && Object.keys(value).length === 0
}

export function stopsOf(stop: unknown): string[] | undefined {
  const stops = [stop as string | string[]].flat().filter((text) => text !== '')
  return stops.length > 0 ? stops : undefined
}

type AnswerSchema = { readonly name?: string; readonly description?: string; readonly schema: JsonObject }

/** Other providers constrain an answer by a schema only: just any JSON could not be guaranteed. */
export function readAnswerSchema(format: unknown): AnswerSchema | undefined {
  const { type, json_schema } = format as JsonObject
  if (type === 'text') return undefined
  if (type !== 'json_schema' || !isObject(json_schema) || !isObject(json_schema.schema)) {
    throw unsupported('response_format', "must be of type 'text', or 'json_schema' with a schema, with this model")
  }
  return json_schema as AnswerSchema
}
