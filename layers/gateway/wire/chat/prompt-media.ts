import type { JsonObject } from '../../domain/basics/json-object.ts'
import type { ChatRequest } from '../../domain/chat/chat.ts'
import type { MediaKind } from '../../domain/routing/catalog.ts'
import { isObject } from '../basics/field-rules.ts'

const MEDIA_PARTS: ReadonlyMap<unknown, MediaKind> = new Map<unknown, MediaKind>([
  ['image_url', 'image'],
  ['input_audio', 'audio'],
  ['audio_url', 'audio'],
  ['video_url', 'video'],
  ['file', 'file'],
])

export const NO_MEDIA: ChatRequest['media'] = { image: 0, audio: 0, video: 0, file: 0, any: 0 }

export function promptMedia(messages: readonly JsonObject[]): ChatRequest['media'] {
  const media = { ...NO_MEDIA }
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

// How the bytes of each kind begin, in hexadecimal digits. Formats that one provider may take for one kind and another
// for another are not here: TIFF with its pages, films of HEIF and AVIF, Ogg.
const BEGINNINGS: readonly (readonly [RegExp, MediaKind])[] = [
  // PNG, JPEG, GIF, BMP, WebP, HEIF and AVIF.
  [/^(?:89504e470d0a1a0a|ffd8ff|474946383[79]61|424d.{8}00000000|52494646.{8}57454250)/, 'image'],
  [/^.{8}66747970(?:68656963|68656978|6865696d|6d696631|61766966)/, 'image'],
  // MP3 and AAC, FLAC, AMR, WAV, AIFF and M4A.
  [/^(?:4944330[2-4]|ffe[23]|fff[0-389ab]|664c6143|2321414d52|464f524d.{8}414946)/, 'audio'],
  [/^(?:52494646.{8}57415645|.{8}667479704d3441)/, 'audio'],
  // Matroska and WebM, FLV, MPEG, AVI, MP4 and QuickTime.
  [/^(?:1a45dfa3|464c5601|000001b[3a]|52494646.{8}415649|.{8}66747970(?!6d736631|6865|61766973))/, 'video'],
  // PDF, ZIP and the formats based on it, the old Office formats, RTF.
  [/^(?:25504446|504b0304|d0cf11e0|7b5c727466)/, 'file'],
]

/** A name that ends in another way is that of a file. */
const EXTENSIONS: Readonly<Record<Exclude<MediaKind, 'file'>, string>> = {
  image: 'png jpg jpeg jfif gif webp bmp heic heif avif',
  audio: 'mp3 mpeg mpga wav ogg oga flac m4a aac opus aif aiff amr',
  video: 'mp4 m4v mov webm mkv avi mpg 3gp flv ogv',
}
const KIND_BY_EXTENSION: ReadonlyMap<string, MediaKind> = new Map(
  Object.entries(EXTENSIONS).flatMap(([kind, ends]) => ends.split(' ').map((end) => [end, kind as MediaKind])),
)

/** Readers of PDF look for its beginning so far. */
const HEAD_BYTES = 1024
const HEAD_CHARS = Math.ceil((HEAD_BYTES * 4) / 3)
const INNER_PDF = '255044462d'
const MOST_HEADER_CHARS = 200
const MOST_NAME_CHARS = 64
const DATA_URL = /^data:([^,;]*)[^,]*;base64,/i

/** Providers go by the bytes, the type, the name or the part: if these disagree, it may be any kind. */
function kindOfContent(said: MediaKind, content: string, name: unknown): MediaKind | 'any' {
  const [start = '', type = ''] = DATA_URL.exec(content.slice(0, MOST_HEADER_CHARS)) ?? []
  const kind = kindOfBytes(content.slice(start.length, start.length + 2 * HEAD_CHARS))
  const told = [kindOfType(type), kindOfName(name), said === 'audio' || said === 'video' ? said : undefined]
  return kind !== undefined && told.every((one) => one === undefined || one === kind) ? kind : 'any'
}

function kindOfBytes(base64: string): MediaKind | undefined {
  const chars = base64.replaceAll(/[ \t\r\n]/g, '').slice(0, HEAD_CHARS)
  const isHidden = chars.length < HEAD_CHARS && base64.length === 2 * HEAD_CHARS
  // Decoders differ in what they make of other characters, and of those after the end.
  if (isHidden || !/^[A-Za-z0-9+/]*={0,2}$/.test(chars)) return undefined
  const head = Buffer.from(chars, 'base64').toString('hex')
  if (head.indexOf(INNER_PDF) > 0) return undefined
  return BEGINNINGS.find(([beginning]) => beginning.test(head))?.[1]
}

function kindOfType(type: string): MediaKind | undefined {
  const [kind = '', form = ''] = type.trim().toLowerCase().split('/')
  if (kind === '' || form === 'octet-stream') return undefined
  return kind === 'image' || kind === 'audio' || kind === 'video' ? kind : 'file'
}

function kindOfName(name: unknown): MediaKind | undefined {
  const end = typeof name === 'string' ? /\.(\w+)\W*$/.exec(name.slice(-MOST_NAME_CHARS))?.[1] : undefined
  return end === undefined ? undefined : (KIND_BY_EXTENSION.get(end.toLowerCase()) ?? 'file')
}
