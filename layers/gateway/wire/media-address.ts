import type { MediaKind } from '../domain/catalog.ts'

const LONGEST_ADDRESS = 8_192

/** The extensions that tell the kind of content behind an address. */
const EXTENSIONS: Readonly<Record<MediaKind, string>> = {
  image: 'png jpg jpeg jfif gif webp bmp tif tiff heic heif avif svg ico',
  audio: 'mp3 wav ogg oga flac m4a aac opus wma aif aiff amr mid',
  video: 'mp4 m4v mov webm mkv avi mpg mpeg 3gp flv wmv ogv ts m3u8',
  file: 'pdf doc docx xls xlsx ppt pptx odt ods rtf epub zip gz tar csv txt md html htm json xml',
}

const KIND_BY_EXTENSION: ReadonlyMap<string, MediaKind> = new Map(
  Object.entries(EXTENSIONS).flatMap(([kind, ends]) => ends.split(' ').map((end) => [end, kind as MediaKind])),
)

export function isDataUrl(address: string): boolean {
  return /^data:/i.test(address)
}

/** The reason why an upstream may not be given this address of a medium; undefined if it may. */
export function addressFault(address: string, kind: MediaKind): string | undefined {
  if (isDataUrl(address)) return undefined
  if (!/^https:\/\//i.test(address) || address.length > LONGEST_ADDRESS || !URL.canParse(address)) {
    return `must be a data: URL, or an https address of at most ${LONGEST_ADDRESS} characters`
  }
  const { hostname, username, password, pathname } = new URL(address)
  if (username !== '' || password !== '') return 'must be an https address without a name and a password'
  if (!isPublicName(hostname)) return 'must be an https address with the name of a public host'
  const named = KIND_BY_EXTENSION.get(/\.(\w{1,8})$/.exec(decoded(pathname))?.[1]?.toLowerCase() ?? '')
  return named === undefined || named === kind ? undefined : `must be the address of ${A[kind]}, and names ${A[named]}`
}

const A: Readonly<Record<MediaKind, string>> = {
  image: 'an image',
  audio: 'an audio file',
  video: 'a video',
  file: 'a file',
}

/** An upstream inside the operator's network must not be sent to its neighbours. */
function isPublicName(host: string): boolean {
  return /\.[a-z][a-z0-9-]*\.?$/i.test(host) && !/(?:^|\.)(?:localhost|local|internal|home|lan|arpa)\.?$/i.test(host)
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}
