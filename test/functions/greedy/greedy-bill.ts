import { MEDIA_KINDS, type MediaKind } from '../../../layers/gateway/domain/routing/catalog.ts'
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

export type PromptBill = { readonly tokens: number; readonly images: number }

/** A token for each byte of every name, text and number, wherever it stands, and all that media may be of what is taken. */
export function promptBill(value: unknown, taken: readonly MediaKind[] = MEDIA_KINDS): PromptBill {
  const media = mediaIn(value)
  const bounds = media.map((kinds) => Math.max(0, ...kinds.filter(isIn(taken)).map((kind) => MEDIA_TOKENS[kind])))
  return {
    tokens: textTokens(value) + storedTokens(value) + bounds.reduce((sum, each) => sum + each, 0),
    images: media.filter((kinds) => kinds.includes('image')).length,
  }
}

const isIn = (taken: readonly MediaKind[]) => (kind: MediaKind) => taken.includes(kind)

function textTokens(value: unknown): number {
  if (typeof value === 'string') return longest(value)
  if (typeof value === 'number') return String(value).length
  if (typeof value !== 'object' || value === null) return 0
  const names = Array.isArray(value) ? [] : Object.keys(value)
  return [...names, ...Object.values(value)].reduce((sum: number, each) => sum + textTokens(each), 0)
}

/** In the form in which a tokenizer has the most to do. */
function longest(text: string): number {
  return Math.max(...[text, text.normalize('NFC'), text.normalize('NFKC')].map((form) => Buffer.byteLength(form)))
}

function storedTokens(value: unknown): number {
  return walk(value, (name, field) =>
    name === 'file_id' || (name === 'audio' && typeof field === 'object') ? [STORED_TOKENS] : [],
  ).reduce((sum, each) => sum + each, 0)
}

const CONTENTS = new Set(['image_url', 'url', 'video_url', 'audio_url', 'file_data', 'file_url', 'bytes'])
const NO_MEDIA = /^(?:text|redacted_thinking|reasoning.*)$/

/** A provider has fetched these addresses before, or never does. */
const LINK = /^(?:web_search_result|web_fetch_result|web_search_result_location|search|open_page|find_in_page)$/

/** For every medium, all that a provider may take it for. */
function mediaIn(value: unknown): MediaKind[][] {
  return walk(value, (name, field, holder) => {
    if (typeof field !== 'string') return []
    if (name === 'url' && (LINK.test(String(holder.type)) || 'tab_id' in holder)) return []
    const isData = name === 'data' && ('media_type' in holder || 'format' in holder)
    if (isData ? NO_MEDIA.test(String(holder.type)) : !CONTENTS.has(name)) return []
    const { media_type: type, filename, format } = holder
    const told = [kindOfType(type), kindOfName(filename), kindOfName(format && `.${format}`)]
    if (name === 'video_url' || name === 'audio_url') told.push(name === 'video_url' ? 'video' : 'audio')
    return [[...kindsOf(field), ...told.filter((kind) => kind !== undefined)]]
  })
}

/** Media in free JSON are text. */
function walk<T>(value: unknown, look: (name: string, field: unknown, holder: Holder) => T[], isOwn = false): T[] {
  if (typeof value !== 'object' || value === null) return []
  if (Array.isArray(value)) return value.flatMap((element) => walk(element, look, isOwn))
  return Object.entries(value).flatMap(([name, field]) => [
    ...(isOwn ? [] : look(name, field, value as Holder)),
    ...walk(field, look, isOwn || (OWN_JSON.has(name) && !Array.isArray(field))),
  ])
}
type Holder = Readonly<Record<string, unknown>>

/** A provider may go by the part itself, or by its declared type. Behind an address may be anything. */
function kindsOf(content: string): readonly MediaKind[] {
  const known = Object.values(DATA).find(({ base64 }) => content.endsWith(base64))
  const type = /^data:([^,;]*)/i.exec(content)?.[1]
  const typed = kindOfType(type)
  return [...(known?.kinds ?? MEDIA_KINDS), ...(typed ? [typed] : [])]
}

function kindOfType(type: unknown): MediaKind | undefined {
  if (typeof type !== 'string' || type === '' || type.endsWith('octet-stream')) return undefined
  return MEDIA_KINDS.find((kind) => type.toLowerCase().startsWith(`${kind}/`)) ?? 'file'
}

function kindOfName(name: unknown): MediaKind | undefined {
  const end = typeof name === 'string' ? /\.(\w+)$/.exec(name)?.[1] : undefined
  const ends: Readonly<Record<string, MediaKind>> = { png: 'image', jpeg: 'image', gif: 'image', webp: 'image' }
  const others: typeof ends = { wav: 'audio', mp4: 'video' }
  return end === undefined ? undefined : (ends[end] ?? others[end] ?? 'file')
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
