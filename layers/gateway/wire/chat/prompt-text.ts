import type { ChatBody } from '../../domain/chat/chat.ts'
import { isObject } from '../basics/field-rules.ts'

/** Names of fields without text for the model: kinds, signatures, and the data of images, audio and files. */
const NOT_READ = new Set([
  ...['type', 'image_url', 'input_audio', 'audio_url', 'video_url', 'file_data', 'data', 'detail'],
  'signature',
])

export function promptText(body: ChatBody): string {
  const texts: string[] = []
  collect(body.messages, texts)
  for (const definition of [body.tools, body.functions, body.response_format]) {
    if (definition !== undefined && definition !== null) texts.push(JSON.stringify(definition))
  }
  return texts.join('\n')
}

/** The body's depth is bounded, so this is too. */
function collect(value: unknown, texts: string[]): void {
  if (typeof value === 'string') texts.push(value)
  else if (Array.isArray(value)) for (const element of value) collect(element, texts)
  else if (isObject(value)) for (const name in value) if (!NOT_READ.has(name)) collect(value[name], texts)
}
