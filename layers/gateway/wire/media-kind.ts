import type { MediaKind } from '../domain/catalog.ts'

/** How the bytes of each kind begin, in hexadecimal digits. */
const BEGINNINGS: readonly (readonly [RegExp, MediaKind])[] = [
  // PNG, JPEG, GIF, BMP, TIFF, WebP, HEIF and AVIF.
  [/^(?:89504e47|ffd8ff|47494638|424d|49492a00|4d4d002a|52494646.{8}57454250)/, 'image'],
  [/^.{8}66747970(?:68656963|68656978|6865696d|68657663|6d696631|6d736631|61766966|61766973)/, 'image'],
  // MP3, Ogg, FLAC, AMR, WAV, AIFF and M4A.
  [
    /^(?:494433|ff[ef]|4f676753|664c6143|2321414d52|52494646.{8}57415645|464f524d.{8}414946|.{8}667479704d3441)/,
    'audio',
  ],
  // Matroska and WebM, FLV, MPEG, AVI, MP4 and QuickTime.
  [/^(?:1a45dfa3|464c56|000001b[3a]|52494646.{8}415649|.{8}66747970)/, 'video'],
  // PDF, ZIP and the formats based on it, the old Office formats, RTF.
  [/^(?:25504446|504b0304|d0cf11e0|7b5c727466)/, 'file'],
]

const HEAD_CHARS = 64
const MOST_HEADER_CHARS = 200
const DATA_URL = /^data:([^,;]*)[^,]*;base64,/i

/**
 * The kind of a part of a prompt, by all that it says of itself: providers look at the data, not at the name of the
 * part. A part is an image only if its name, its type and its bytes agree.
 */
export function kindOfData(said: MediaKind, url: string): MediaKind {
  const [start, type = ''] = DATA_URL.exec(url.slice(0, MOST_HEADER_CHARS)) ?? []
  if (start === undefined) return said === 'image' ? 'file' : said
  return agreed(said, kindOfType(type), kindOfBytes(url.slice(start.length, start.length + 4 * HEAD_CHARS)))
}

/** The same for data without a type. */
export function kindOfBase64(said: MediaKind, base64: string): MediaKind {
  return agreed(said, said, kindOfBytes(base64.slice(0, 4 * HEAD_CHARS)))
}

function agreed(said: MediaKind, typed: MediaKind, seen: MediaKind | undefined): MediaKind {
  if (said === typed && said === seen) return said
  const kind = seen ?? typed
  return kind === 'image' ? 'file' : kind
}

function kindOfType(type: string): MediaKind {
  const [kind] = type.trim().toLowerCase().split('/')
  return kind === 'image' || kind === 'audio' || kind === 'video' ? kind : 'file'
}

function kindOfBytes(base64: string): MediaKind | undefined {
  const head = Buffer.from(base64.replaceAll(/\s/g, '').slice(0, HEAD_CHARS), 'base64').toString('hex')
  return BEGINNINGS.find(([beginning]) => beginning.test(head))?.[1]
}
