import type { JsonObject } from '../../domain/basics/json-object.ts'
import { isObject } from '../../wire/basics/field-rules.ts'

const ABOUT_CONTENT = /moderation|flagged|content[ _-]?(?:policy|filter|management)|safety/i
/** A flagged account is the operator's problem, not the content's. */
const ABOUT_US = /\b(?:account|organi[sz]ation|project|workspace|billing|api[ _-]?key|credential)/i

/** True if an upstream's error is about the caller's content, and not about our account. */
export function isContentComplaint(error: JsonObject): boolean {
  const metadata = isObject(error.metadata) ? error.metadata : {}
  // OpenRouter lists the findings of its moderation.
  if (Array.isArray(metadata.reasons) || typeof metadata.flagged_input === 'string') return true
  if ([error.code, error.type].some((name) => typeof name === 'string' && ABOUT_CONTENT.test(name))) return true
  const { message } = error
  return typeof message === 'string' && ABOUT_CONTENT.test(message) && !ABOUT_US.test(message)
}
