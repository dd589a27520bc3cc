import type { ChatBody } from '../domain/chat.ts'
import { isObject } from '../wire/field-rules.ts'
import { toConversation } from './anthropic-messages.ts'
import { rejection } from './anthropic-rejection.ts'
import type { ChatCall } from './provider.ts'

type Fields = Record<string, unknown>

// What a caller would miss in the answer is refused; hints such as seed, penalties, verbosity or store are left out.
const REFUSED: Readonly<Record<string, (value: unknown) => boolean>> = {
  logprobs: (value) => value === true,
  logit_bias: (value) => isObject(value) && Object.keys(value).length > 0,
  functions: (value) => Array.isArray(value) && value.length > 0,
  function_call: (value) => value !== 'none',
  modalities: (value) => Array.isArray(value) && value.some((modality) => modality !== 'text'),
  audio: () => true,
  web_search_options: () => true,
}

/** A chat completion request in the words of Anthropic's Messages API. */
export function toAnthropicRequest({ request: { body, choices }, model, outputCap }: ChatCall): Fields {
  if (choices > 1) throw rejection(`'n' is ${choices}, but this model gives one answer to a request.`, 'n')
  for (const [name, isRefused] of Object.entries(REFUSED)) {
    const value = body[name]
    if (value !== undefined && value !== null && isRefused(value)) {
      throw rejection(`'${name}' is not available with this model.`, name)
    }
  }
  const user = body.user ?? body.safety_identifier
  return {
    model,
    max_tokens: outputCap,
    stream: true,
    ...toConversation(body.messages),
    ...toolFields(body),
    ...thoughtFields(body),
    ...(typeof body.temperature === 'number' && { temperature: Math.min(1, Math.max(0, body.temperature)) }),
    ...(typeof body.top_p === 'number' && { top_p: body.top_p }),
    ...stopFields(body.stop),
    ...(typeof user === 'string' && { metadata: { user_id: user } }),
  }
}

function stopFields(stop: unknown): Fields {
  const sequences = typeof stop === 'string' ? [stop] : stop
  return Array.isArray(sequences) && sequences.length > 0 ? { stop_sequences: sequences } : {}
}

function toolFields({ tools, tool_choice: choice, parallel_tool_calls: parallel }: ChatBody): Fields {
  if (!Array.isArray(tools) || tools.length === 0) return {}
  const chosen = toToolChoice(choice)
  const oneAtATime = parallel === false && chosen?.type !== 'none'
  return {
    tools: tools.map(toTool),
    ...(oneAtATime
      ? { tool_choice: { type: 'auto', ...chosen, disable_parallel_tool_use: true } }
      : chosen && { tool_choice: chosen }),
  }
}

function toTool(tool: Fields, index: number): Fields {
  const path = `tools[${index}]`
  const fn = tool.type === 'function' && isObject(tool.function) ? tool.function : {}
  if (typeof fn.name !== 'string') throw rejection(`'${path}' must be a function with a name.`, path)
  return {
    name: fn.name,
    ...(typeof fn.description === 'string' && { description: fn.description }),
    input_schema: { type: 'object', properties: {}, ...(isObject(fn.parameters) && fn.parameters) },
    ...(fn.strict === true && { strict: true }),
  }
}

const CHOICES: Readonly<Record<string, string>> = { none: 'none', auto: 'auto', required: 'any' }

function toToolChoice(choice: unknown): Fields | undefined {
  if (choice === undefined || choice === null) return undefined
  if (typeof choice === 'string' && Object.hasOwn(CHOICES, choice)) return { type: CHOICES[choice] }
  const fn = isObject(choice) && choice.type === 'function' && isObject(choice.function) ? choice.function : {}
  if (typeof fn.name === 'string') return { type: 'tool', name: fn.name }
  throw rejection("'tool_choice' must be 'none', 'auto', 'required' or a function with a name.", 'tool_choice')
}

const EFFORTS: Readonly<Record<string, string>> = {
  minimal: 'low',
  low: 'low',
  medium: 'medium',
  high: 'high',
  xhigh: 'xhigh',
  max: 'max',
}

/** `thinking` is Anthropic's own field and travels as it came; an effort and a schema have one field between them. */
function thoughtFields({ thinking, reasoning_effort: effort, response_format: format }: ChatBody): Fields {
  const config = { ...effortField(effort), ...formatField(format) }
  const isOff = effort === 'none' && { thinking: { type: 'disabled' } }
  return {
    ...(isObject(thinking) ? { thinking } : isOff),
    ...(Object.keys(config).length > 0 && { output_config: config }),
  }
}

function effortField(effort: unknown): Fields {
  if (effort === undefined || effort === null || effort === 'none') return {}
  if (typeof effort === 'string' && Object.hasOwn(EFFORTS, effort)) return { effort: EFFORTS[effort] }
  const wanted = ['none', ...Object.keys(EFFORTS)].join(', ')
  throw rejection(`'reasoning_effort' must be one of ${wanted}.`, 'reasoning_effort')
}

/** Anthropic constrains an answer by a schema only: a promise of just any JSON could not be kept. */
function formatField(format: unknown): Fields {
  if (!isObject(format) || format.type === 'text') return {}
  const { schema } = isObject(format.json_schema) ? format.json_schema : {}
  if (format.type === 'json_schema' && isObject(schema)) return { format: { type: 'json_schema', schema } }
  const message = "'response_format' must be of type 'text', or 'json_schema' with a schema; this model has no other."
  throw rejection(message, 'response_format')
}
