import type { JsonObject } from '../../domain/json-object.ts'
import { isObject } from '../../wire/field-rules.ts'

const ABOUT_CONTENT = /moderation|flagged|content[ _-]?(?:policy|filter|management)|safety/i
/** An account is flagged, too, and that is the operator's trouble. */
const ABOUT_US = /\b(?:account|organi[sz]ation|project|workspace|billing|api[ _-]?key|credential)/i

/** Whether an upstream's error complains of what the caller wrote, and not of who we are. */
export function isContentComplaint(error: JsonObject): boolean {
  const metadata = isObject(error.metadata) ? error.metadata : {}
  // OpenRouter names what its moderation found.
  if (Array.isArray(metadata.reasons) || typeof metadata.flagged_input === 'string') return true
  if ([error.code, error.type].some((name) => typeof name === 'string' && ABOUT_CONTENT.test(name))) return true
  const { message } = error
  return typeof message === 'string' && ABOUT_CONTENT.test(message) && !ABOUT_US.test(message)
}
