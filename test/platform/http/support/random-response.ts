import type { Random } from '../../../simulation/random.ts'

export type RandomResponse = {
  readonly bytes: Buffer
  /** In small letters, and of those that come once only. */
  readonly names: readonly string[]
  readonly endsWithConnection: boolean
}

type Lines = { readonly text: string; readonly names: readonly string[] }

const STATUSES = [
  200, 200, 200, 201, 203, 205, 302, 400, 401, 404, 413, 429, 451, 499, 500, 502, 520, 529, 599, 204, 304,
]
const REASONS = ['', ' ', ' OK', ' Too Many Requests', ' \todd \xe9 : reason ']
const NAMES = 'Content-Type Date Server x-request-id CF-RAY x-amzn-ErrorType Retry-After a !#$%&'.split(' ')
const VALUES = [
  ...['', 'a', 'text/event-stream; charset=utf-8', '0', 'a: b, c', '"q"', 'caf\xe9 \xa0', '\xa0', 'x'.repeat(900)],
]
const SPACES = ['', ' ', '  ', '\t', ' \t ']

/** A response as RFC 9112 allows it, however odd. */
export function randomResponse(random: Random): RandomResponse {
  const interim = Array.from({ length: random.below(3) }, () => interimResponse(random)).join('')
  const status = random.pick(STATUSES)
  const minor = random.chance(0.15) ? 0 : 1
  const { framing, body } = status === 204 || status === 304 ? withoutBody(random, status) : withBody(random)
  const { text, names } = headers(random, framing)
  const head = `HTTP/1.${minor} ${status}${random.pick(REASONS)}\r\n${text}\r\n`
  return {
    bytes: Buffer.concat([Buffer.from(interim + head, 'latin1'), body]),
    names,
    endsWithConnection: framing.length === 0 && status !== 204 && status !== 304,
  }
}

/** Cut where it pleases chance. */
export function inRandomPieces(random: Random, bytes: Buffer): Buffer[] {
  const cuts = Array.from({ length: 1 + random.below(8) }, () => random.below(bytes.length)).sort((a, b) => a - b)
  return [0, ...cuts].map((from, i) => bytes.subarray(from, cuts[i])).filter(({ length }) => length > 0)
}

export function byteByByte(bytes: Buffer): Buffer[] {
  return Array.from(bytes, (_, at) => bytes.subarray(at, at + 1))
}

function interimResponse(random: Random): string {
  const status = random.pick(['100 Continue', '102', '103 Early Hints'])
  return `HTTP/1.1 ${status}\r\n${random.chance(0.5) ? 'Link: </a>; rel=preload\r\n' : ''}\r\n`
}

function withoutBody(random: Random, status: number) {
  // A 304 says what the body would have had.
  return { framing: status === 304 && random.chance(0.5) ? ['Content-Length: 12'] : [], body: Buffer.of() }
}

function withBody(random: Random) {
  const content = Buffer.from(random.bytes(random.chance(0.1) ? 0 : random.below(random.pick([5, 300, 3_000]))))
  const kind = random.pick(['counted', 'chunked', 'chunked', 'until close'])
  if (kind === 'until close') return { framing: [], body: content }
  if (kind === 'counted') {
    const length = random.pick(['', '0', '000']) + content.length
    return { framing: [`${anyCase(random, 'Content-Length')}:${spaced(random, length)}`], body: content }
  }
  // No tab behind it, after which Node's parser no longer sees the chunks.
  const coding = random.pick(SPACES) + anyCase(random, 'chunked') + random.pick(['', ' '])
  return { framing: [`${anyCase(random, 'Transfer-Encoding')}:${coding}`], body: inChunks(random, content) }
}

function inChunks(random: Random, content: Buffer): Buffer {
  const pieces = content.length > 0 ? inRandomPieces(random, content) : []
  const chunks = pieces.flatMap((piece) => [sizeLine(random, piece.length), piece, Buffer.from('\r\n')])
  const trailers = random.pick(['', '', 'X-Sum: 1\r\n', 'a:\r\nB: \xe9 \r\n'])
  return Buffer.concat([...chunks, sizeLine(random, 0), Buffer.from(`${trailers}\r\n`, 'latin1')])
}

function sizeLine(random: Random, size: number): Buffer {
  const digits = random.pick(['', '', '0', '00000000']) + size.toString(16)
  const extension = random.pick(['', '', '', ';a', ';a=b', ';a="b c;d";e', `;x=${'y'.repeat(200)}`])
  return Buffer.from(`${random.chance(0.5) ? digits.toUpperCase() : digits}${extension}\r\n`)
}

/** The framing stands somewhere among the others, some of which come twice. */
function headers(random: Random, framing: readonly string[]): Lines {
  const chosen = Array.from({ length: random.below(8) }, () => random.pick(NAMES))
  const lines = chosen.map((name) => `${anyCase(random, name)}:${spaced(random, random.pick(VALUES))}`)
  lines.splice(random.below(lines.length + 1), 0, ...framing)
  const all = lines.map((line) => line.slice(0, line.indexOf(':')).toLowerCase())
  const names = all.filter((name) => all.indexOf(name) === all.lastIndexOf(name))
  return { text: lines.map((line) => `${line}\r\n`).join(''), names }
}

function spaced(random: Random, value: string): string {
  return random.pick(SPACES) + value + random.pick(SPACES)
}

function anyCase(random: Random, text: string): string {
  return random.pick([text, text.toLowerCase(), text.toUpperCase()])
}
