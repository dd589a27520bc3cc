import type { MediaKind } from '../domain/catalog.ts'
import type { JsonObject } from '../domain/json-object.ts'
import { isObject } from './field-rules.ts'
import { isDataUrl } from './media-address.ts'
import { kindOfBase64, kindOfData } from './media-kind.ts'

const MEDIA_PARTS: ReadonlyMap<unknown, MediaKind> = new Map<unknown, MediaKind>([
  ['image_url', 'image'],
  ['input_audio', 'audio'],
  ['audio_url', 'audio'],
  ['video_url', 'video'],
  ['file', 'file'],
])

/** Counts the parts of a prompt that are not text, each by its true kind. */
export function promptMedia(messages: readonly JsonObject[]): Record<MediaKind, number> {
  const media = { image: 0, audio: 0, video: 0, file: 0 }
  for (const { content } of messages) {
    if (!Array.isArray(content)) continue
    for (const part of content as JsonObject[]) {
      const said = MEDIA_PARTS.get(part.type)
      if (said) media[kindOf(said, part[part.type as string])] += 1
    }
  }
  return media
}

/** `given` is an address, or an object with an address or data. */
function kindOf(said: MediaKind, given: unknown): MediaKind {
  const { url, data, file_data } = isObject(given) ? given : { url: given }
  if (typeof data === 'string') return kindOfBase64(said, data)
  const address = url ?? file_data
  if (typeof address !== 'string') return 'file'
  if (isDataUrl(address)) return kindOfData(said, address)
  return address.includes(':') ? said : kindOfBase64(said, address)
}
