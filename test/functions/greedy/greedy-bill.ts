import type { MediaKind } from '../../../layers/gateway/domain/catalog.ts'
import { DATA } from './random-request.ts'

/** As the catalog of the test bounds them. */
export const MEDIA_TOKENS: Readonly<Record<MediaKind, number>> = {
  image: 1_000,
  audio: 7_000,
  video: 90_000,
  file: 20_000,
}
const STORED_TOKENS = 90_000
/** Without a cap in the field that it reads, a provider writes this much. */
const UNCAPPED = 1_000_000

/** Free JSON: an address in it is text. */
const OWN_JSON = new Set(['input', 'input_schema', 'parameters', 'schema', 'json', 'guided_json', 'json_schema'])

/** A token for each byte of every name, text and number, wherever it stands, and all that media may be. */
export function promptTokens(value: unknown, isOwn = false): number {
  if (typeof value === 'string') return Buffer.byteLength(value)
  if (typeof value === 'number') return String(value).length
  if (typeof value !== 'object' || value === null) return 0
  if (Array.isArray(value)) return value.reduce((sum: number, element) => sum + promptTokens(element, isOwn), 0)
  return Object.entries(value).reduce((sum, [name, field]) => {
    const isFree = isOwn || (OWN_JSON.has(name) && !Array.isArray(field))
    return (
      sum +
      Buffer.byteLength(name) +
      promptTokens(field, isFree) +
      (isOwn ? 0 : mediaTokens(name, field, value as object))
    )
  }, 0)
}

const SAID: Readonly<Record<string, MediaKind>> = {
  image_url: 'image',
  url: 'image',
  video_url: 'video',
  audio_url: 'audio',
  file_data: 'file',
  file_url: 'file',
  bytes: 'image',
}

function mediaTokens(name: string, field: unknown, holder: object): number {
  if (name === 'file_id' || (name === 'audio' && typeof field === 'object')) return STORED_TOKENS
  if (typeof field !== 'string') return 0
  if (name === 'data' && ('media_type' in holder || 'format' in holder)) {
    const isText =
      'type' in holder &&
      (holder.type === 'text' || holder.type === 'redacted_thinking' || String(holder.type).startsWith('reasoning'))
    return isText ? 0 : MEDIA_TOKENS[kindOf(field) ?? 'file']
  }
  const said = SAID[name]
  return said ? MEDIA_TOKENS[kindOf(field) ?? said] : 0
}

/** By what it is: providers look at the data. */
function kindOf(field: string): MediaKind | undefined {
  for (const [kind, data] of Object.entries(DATA)) if (field.includes(data)) return kind as MediaKind
  if (/\.mp4$/.test(field)) return 'video'
  return /\.pdf$/.test(field) ? 'file' : undefined
}

/** Budgets count inside the cap; one above it is billed in full. */
export function mostBudget({ thinking, reasoning, chat_template_kwargs: template, ...body }: Body): number {
  const budgets = [
    ...[body.thinking_budget, body.min_tokens],
    ...[(thinking as Body)?.budget_tokens, (reasoning as Body)?.max_tokens, (template as Body)?.thinking_budget],
  ]
  return Math.max(0, ...budgets.map((budget) => Number(budget ?? 0)))
}

type Body = Record<string, unknown>

/** As much as the cap allows, in the field that this provider reads, or a budget, for every choice. */
export function completionTokens(body: Body, capField: string): number {
  const cap = Math.max(typeof body[capField] === 'number' ? body[capField] : UNCAPPED, mostBudget(body))
  const choices = Math.max(Number(body.n ?? 1), Number(body.best_of ?? 1))
  const prompts = Array.isArray(body.prompt) && typeof body.prompt[0] !== 'number' ? body.prompt.length : 1
  return cap * choices * prompts
}
