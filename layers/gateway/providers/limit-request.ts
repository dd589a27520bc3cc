import type { JsonObject } from '../domain/basics/json-object.ts'
import { isObject } from '../wire/basics/field-rules.ts'
import { EFFORTS, VERBOSITIES } from '../wire/chat/chat-fields.ts'
import { withCacheMarks } from './cache-mark.ts'
import type { ChatCall, EmbedCall } from './provider.ts'
import { requireHeld } from './require-held.ts'
import { unsupported } from './verdict.ts'

type AnyCall = ChatCall | EmbedCall

/** The places of a field in requests of all dialects, and what may stand there: a number up to `most`, or one of `words`. */
export type Limit = {
  readonly at: readonly string[]
  /** Undefined for a call to which the limit does not apply. */
  readonly most?: (call: AnyCall) => number | undefined
  readonly words?: readonly string[]
  /** True if the operator cannot allow more. */
  readonly isOurs?: true
}

const cap = (call: AnyCall) => ('outputCap' in call ? call.outputCap : undefined)
/** Claude wants room for an answer after its thoughts. */
const belowCap = (call: AnyCall) => ('outputCap' in call ? call.outputCap - 1 : undefined)

/**
 * Fields that raise what a provider writes or reads, and so its bill. At Bedrock those of Claude are one level deeper, in
 * `additionalModelRequestFields`.
 */
export const LIMITS: readonly Limit[] = [
  {
    at: ['max_tokens', 'max_completion_tokens', 'max_output_tokens', 'inferenceConfig.maxTokens'],
    most: cap,
    isOurs: true,
  },
  { at: ['n', 'best_of'], most: ({ chat }) => chat.choices, isOurs: true },
  { at: ['thinking.budget_tokens', 'reasoning.max_tokens'], most: belowCap },
  { at: ['thinking_budget', 'chat_template_kwargs.thinking_budget', 'min_tokens'], most: cap },
  { at: ['dimensions', 'output_dimension'], most: (call) => ('dimensions' in call ? call.dimensions : undefined) },
  { at: ['reasoning_effort', 'reasoning.effort', 'chat_template_kwargs.reasoning_effort'], words: EFFORTS },
  { at: ['output_config.effort'], words: ['low', 'medium', 'high', 'xhigh', 'max'] },
  { at: ['verbosity', 'text.verbosity'], words: VERBOSITIES },
]

const PLACES = LIMITS.flatMap(({ at, ...limit }) => at.map((place) => ({ path: place.split('.'), limit })))

/**
 * The request as it goes out, in any dialect: without a field above its limit, without a cache mark whose price is not
 * known, and no longer than was held for.
 */
export function limitRequest<Request extends object>(request: Request, call: AnyCall): Request {
  const isMarked = call.chat.asksCacheWrite && 'mayWriteCache' in call
  const fields = (isMarked ? withCacheMarks(request, call) : request) as JsonObject
  return requireHeld(limitFields(fields, call) as Request, call.chat)
}

function limitFields(fields: JsonObject, call: AnyCall): JsonObject {
  let limited = fields
  for (const { path, limit } of PLACES) {
    const [root = ''] = path
    if (limited[root] !== undefined && (limit.isOurs || !(root in call.extra)))
      limited = limitAt(limited, path, limit, call)
  }
  const { additionalModelRequestFields: more } = limited
  return isObject(more) ? { ...limited, additionalModelRequestFields: limitFields(more, call) } : limited
}

function limitAt(fields: JsonObject, path: readonly string[], limit: Omit<Limit, 'at'>, call: AnyCall): JsonObject {
  const [name = '', inner] = path
  const parent = inner === undefined ? fields : fields[name]
  const value = isObject(parent) ? parent[inner ?? name] : undefined
  if (limit.words && value !== undefined && value !== null && !limit.words.includes(value as string)) {
    throw unsupported(path.join('.'), `must be one of ${limit.words.join(', ')} with this model`)
  }
  const most = limit.most?.(call)
  if (most === undefined || typeof value !== 'number' || value <= most) return fields
  return { ...fields, [name]: inner === undefined ? most : { ...(parent as JsonObject), [inner]: most } }
}
