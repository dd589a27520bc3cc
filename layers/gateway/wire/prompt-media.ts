import type { MediaKind } from '../domain/catalog.ts'
import { isObject } from './field-rules.ts'

type Fields = Record<string, unknown>

/** Parts whose words are all in the body. */
const TEXT_PARTS = new Set([
  'text',
  'refusal',
  'thinking',
  'redacted_thinking',
  'reasoning',
  'input_text',
  'output_text',
])

const KINDS: ReadonlyMap<unknown, MediaKind> = new Map<unknown, MediaKind>([
  ['image_url', 'image'],
  ['image', 'image'],
  ['input_image', 'image'],
  ['input_audio', 'audio'],
  ['audio_url', 'audio'],
  ['audio', 'audio'],
  ['video_url', 'video'],
  ['input_video', 'video'],
  ['video', 'video'],
])

/** Counts the parts of a prompt that are not text. An unknown part counts as a file. */
export function promptMedia(messages: readonly Fields[]): Record<MediaKind, number> {
  const media = { image: 0, audio: 0, video: 0, file: 0 }
  for (const message of messages) {
    // The model reads an earlier spoken answer, named by its id, again.
    if (isObject(message.audio)) media.audio += 1
    if (!Array.isArray(message.content)) continue
    for (const part of message.content as Fields[]) {
      if (!TEXT_PARTS.has(part.type as string)) media[kindOf(part)] += 1
    }
  }
  return media
}

/** Some upstreams take films and documents where a picture belongs. */
function kindOf(part: Fields): MediaKind {
  const kind = KINDS.get(part.type) ?? 'file'
  const address = part[part.type as string]
  const url = isObject(address) ? address.url : address
  if (kind !== 'image' || typeof url !== 'string' || !/^data:/i.test(url) || /^data:image\//i.test(url)) return kind
  if (/^data:video\//i.test(url)) return 'video'
  return /^data:audio\//i.test(url) ? 'audio' : 'file'
}
