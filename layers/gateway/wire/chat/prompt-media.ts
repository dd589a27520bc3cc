import type { JsonObject } from '../../domain/basics/json-object.ts'
import type { ChatRequest } from '../../domain/chat/chat.ts'
import type { MediaKind } from '../../domain/routing/catalog.ts'
import { isObject } from '../basics/field-rules.ts'
import { kindOfContent } from './media-kind.ts'

const MEDIA_PARTS: ReadonlyMap<unknown, MediaKind> = new Map<unknown, MediaKind>([
  ['image_url', 'image'],
  ['input_audio', 'audio'],
  ['audio_url', 'audio'],
  ['video_url', 'video'],
  ['file', 'file'],
])

/** Counts the parts of a prompt that are not text, each by its true kind. */
export function promptMedia(messages: readonly JsonObject[]): ChatRequest['media'] {
  const media = { image: 0, audio: 0, video: 0, file: 0, any: 0 }
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
function kindOf(said: MediaKind, given: unknown): MediaKind | 'any' {
  const { url, data, file_data, filename, format } = isObject(given) ? given : { url: given }
  const content = url ?? data ?? file_data
  const name = format === undefined ? filename : `.${format}`
  return typeof content === 'string' ? kindOfContent(said, content, name) : 'any'
}
