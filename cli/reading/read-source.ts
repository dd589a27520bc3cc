import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'
import { basename, resolve } from 'node:path'
import { CliError } from '../../layers/terminal/output.ts'

const MOST_REDIRECTS = 3

type Bounds = {
  readonly folder: string
  readonly nowMs: number
  readonly mostBytes: number
  /** The time of a download, with its redirects; a minute unless given. */
  readonly mostMs?: number
}

/** No more than one is downloaded at a time. */
export function readSources(from: readonly string[], bounds: Bounds): Promise<readonly Source[]> {
  return Array.fromAsync(from, (one) => readSource(one, bounds))
}

/** Everything is bounded in size, and a download in time: nothing that is read here is trusted. */
export async function readSource(from: string, bounds: Bounds): Promise<Source> {
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(from)?.[1]
  if (scheme === undefined) return readFileAt(from, bounds)
  if (scheme.toLowerCase() === 'https') return downloaded(from, bounds)
  throw new CliError(`'${withoutQuery(from)}' is neither a file nor an https address.`)
}

async function readFileAt(path: string, { folder, mostBytes }: Bounds): Promise<Source> {
  try {
    await using file = await open(resolve(folder, path))
    const { mtimeMs } = await file.stat()
    const bytes = await collected(file.createReadStream({ autoClose: false }), path, mostBytes)
    return sourceOf(path, basename(path), bytes, mtimeMs)
  } catch (error) {
    if (error instanceof CliError) throw error
    throw new CliError(`The file '${path}' cannot be read (${(error as NodeJS.ErrnoException).code}).`)
  }
}

async function downloaded(address: string, { nowMs, mostBytes, mostMs = 60_000 }: Bounds): Promise<Source> {
  const signal = AbortSignal.timeout(mostMs)
  const name = withoutQuery(address)
  try {
    const { response, url } = await followed(address, signal)
    if (!response.body) throw new CliError(`${name} answered with nothing.`)
    const bytes = await collected(response.body, name, mostBytes)
    const changedMs = Date.parse(response.headers.get('last-modified') ?? '')
    return sourceOf(name, basename(url.pathname), bytes, changedMs < nowMs ? changedMs : nowMs)
  } catch (error) {
    if (error instanceof CliError) throw error
    if (signal.aborted) throw new CliError(`${name} took longer than ${mostMs / 1000} seconds.`)
    const { message, cause } = error as Error & { cause?: { code?: string; message?: string } }
    throw new CliError(`${name} cannot be downloaded (${cause?.code ?? cause?.message ?? message}).`)
  }
}

async function followed(address: string, signal: AbortSignal): Promise<{ response: Response; url: URL }> {
  let url = safeUrl(address)
  for (let redirects = 0; redirects <= MOST_REDIRECTS; redirects++) {
    const response = await fetch(url.href, { signal, redirect: 'manual', headers: { accept: 'application/json, */*' } })
    if (response.status === 200) return { response, url }
    await response.body?.cancel()
    const location = response.headers.get('location')
    if (response.status < 300 || response.status >= 400 || location === null) {
      throw new CliError(`${withoutQuery(address)} answered with the status ${response.status}.`)
    }
    url = safeUrl(URL.canParse(location, url.href) ? new URL(location, url.href).href : '')
  }
  throw new CliError(`${withoutQuery(address)} leads to another address more than ${MOST_REDIRECTS} times.`)
}

function safeUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol !== 'https:') throw new CliError(`'${withoutQuery(text)}' is not an https address.`)
  if (url.username || url.password) throw new CliError('An address must have no name and no password in it.')
  return url
}

/** Chunks are counted after they were decompressed, so that no more than the bound is ever kept. */
async function collected(chunks: AsyncIterable<Uint8Array>, name: string, mostBytes: number): Promise<Buffer> {
  const kept: Uint8Array[] = []
  let size = 0
  for await (const chunk of chunks) {
    size += chunk.length
    if (size > mostBytes) throw new CliError(`${name} has more than ${mostBytes / 1024 / 1024} MB.`)
    kept.push(chunk)
  }
  return Buffer.concat(kept)
}

export type Source = ReturnType<typeof sourceOf>

// `name` is for people: an address without its query, which may have a token. `file` is the last part of its path.
// `changedMs` is the time of its last change, as far as that is known.
function sourceOf(name: string, file: string, bytes: Buffer, changedMs: number) {
  return { name, file, bytes, changedMs, sha256: createHash('sha256').update(bytes).digest('hex') }
}

function withoutQuery(address: string): string {
  return address.replace(/[?#].*$/s, '').replace(/\/\/[^/@]*@/, '//')
}
