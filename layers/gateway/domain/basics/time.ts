export const MINUTE_MS = 60 * 1000
export const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS

const YEAR_10000_MS = 253_402_300_800_000

type Day = { readonly number: number; readonly text: string }

/** The last day with an even number and the last with an odd one: a request asks for today and yesterday several times. */
const lastDays: [Day, Day] = [/* @__PURE__ */ dayAt(0), /* @__PURE__ */ dayAt(1)]

export function utcDay(nowMs: number): string {
  const number = Math.floor(nowMs / DAY_MS)
  const parity = number & 1
  if (lastDays[parity]?.number !== number) lastDays[parity] = dayAt(number)
  return (lastDays[parity] as Day).text
}

/** The same text as by `toISOString`, in a tenth of the time. */
export function isoTime(ms: number): string {
  const time = Math.floor(ms) % DAY_MS
  if (!(time >= 0 && ms < YEAR_10000_MS)) return new Date(ms).toISOString()
  const seconds = Math.floor(time / 1000)
  return `${utcDay(ms)}T${two(Math.floor(seconds / 3600))}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}.${String(time % 1000).padStart(3, '0')}Z`
}

function two(number: number): string {
  return number < 10 ? `0${number}` : String(number)
}

function dayAt(number: number): Day {
  return { number, text: new Date(number * DAY_MS).toISOString().slice(0, 10) }
}

export const MOMENT_WORDS = 'a UTC day such as 2026-11-01, or a moment such as 2026-11-01T12:30:00Z'

const MOMENT = /^(\d{4}-\d{2}-\d{2})(T([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,3})?)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d))?$/

/** A UTC day, which stands for its first moment, or a moment, in milliseconds; undefined for another text. */
export function readMoment(text: string): number | undefined {
  const day = MOMENT.exec(text)?.[1]
  const ms = Date.parse(text)
  // JavaScript reads 30 February as 2 March.
  return day && ms >= 0 && new Date(`${day}T00:00:00Z`).toISOString().startsWith(day) ? ms : undefined
}

const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const DIGITS = new Uint8Array(128).fill(255)
for (let digit = 0; digit < 32; digit++) DIGITS[CROCKFORD.charCodeAt(digit)] = digit

export const ULID = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/

const BYTES = 16
const CHARS = 26
const TIME_BYTES = 6

/** 48 bits of time and 80 bits of chance, sortable by time. */
export function ulid(nowMs: number, random: Uint8Array): string {
  const bytes = new Uint8Array(BYTES)
  for (let i = TIME_BYTES - 1, rest = nowMs; i >= 0; i--, rest = Math.floor(rest / 256)) bytes[i] = rest % 256
  bytes.set(random.subarray(0, BYTES - TIME_BYTES), TIME_BYTES)
  return writeUlid(bytes)
}

/** No other of their milliseconds is before the first, or after the second. */
export const firstUlid = (ms: number) => ulid(ms, new Uint8Array(BYTES - TIME_BYTES))
export const lastUlid = (ms: number) => ulid(ms, new Uint8Array(BYTES - TIME_BYTES).fill(255))

export function ulidTimeMs(id: string): number {
  return timeMsIn(readUlid(id))
}

export function timeMsIn(bytes: Uint8Array): number {
  let ms = 0
  for (let i = 0; i < TIME_BYTES; i++) ms = ms * 256 + (bytes[i] as number)
  return ms
}

export function makeRequestId(nowMs: number, random: Uint8Array): string {
  return requestIdOf(ulid(nowMs, random))
}

export function requestIdOf(text: string): string {
  return `req_${text}`
}

/** False for every text that is not the id of a request, so that none is looked for. */
export function isRequestId(text: string): boolean {
  return text.startsWith('req_') && ULID.test(text.slice('req_'.length))
}

/** The characters of the ULID that is being written. Joined one by one, they would make as many strings. */
const WRITTEN = new Array<number>(CHARS).fill(0)

/** 16 bytes as 26 digits of 5 bits, the first two bits zero. */
export function writeUlid(bytes: Uint8Array): string {
  let [pending, bits, at] = [0, 2, 0]
  for (let i = 0; i < BYTES; i++) {
    pending = (pending << 8) | (bytes[i] as number)
    for (bits += 8; bits >= 5; bits -= 5) WRITTEN[at++] = CROCKFORD.charCodeAt((pending >> (bits - 5)) & 31)
    pending &= (1 << bits) - 1
  }
  return String.fromCharCode(...WRITTEN)
}

export function ulidRandom(id: string): Uint8Array {
  return readUlid(id).subarray(TIME_BYTES)
}

/** The 16 bytes of the ULID that an id ends in. Throws if it ends in none. */
export function readUlid(id: string): Uint8Array {
  const bytes = new Uint8Array(BYTES)
  let [pending, bits, at] = [0, -2, 0]
  for (let i = id.length - CHARS; i < id.length; i++) {
    const digit = DIGITS[id.charCodeAt(i)] ?? 255
    if (digit === 255) throw new TypeError('An id does not end in a ULID.')
    pending = (pending << 5) | digit
    bits += 5
    if (bits < 8) continue
    bits -= 8
    bytes[at++] = pending >> bits
    pending &= (1 << bits) - 1
  }
  return bytes
}
