/** An image whose every byte is the number of a colour. */
export type Indexed = { readonly pixels: Uint8Array; readonly ms: number }

export type Film = {
  readonly width: number
  readonly height: number
  /** Red, green and blue of at most 255 colours. */
  readonly palette: readonly (readonly [number, number, number])[]
  readonly frames: readonly Indexed[]
}

const COLOURS = 256
const UNCHANGED = COLOURS - 1
const CLEAR = COLOURS
const END = COLOURS + 1
const FIRST_WIDTH = 9
const MAX_CODES = 4096

const word = (value: number) => [value & 255, value >> 8]

/** A GIF that loops for ever. Each frame after the first has only the rows from the first to the last that changed. */
export function encodeGif({ width, height, palette, frames }: Film): Buffer {
  const table = new Uint8Array(COLOURS * 3)
  table.set(palette.flat())
  const parts: Uint8Array[] = [
    Buffer.from('GIF89a'),
    Uint8Array.from([...word(width), ...word(height), 0xf7, 0, 0]),
    table,
    Buffer.from('\x21\xff\x0bNETSCAPE2.0\x03\x01\x00\x00\x00', 'latin1'),
  ]
  for (const [i, { pixels, ms }] of frames.entries()) {
    parts.push(...frameOf(pixels, frames[i - 1]?.pixels, width, ms))
  }
  return Buffer.concat([...parts, Uint8Array.of(0x3b)])
}

function frameOf(pixels: Uint8Array, before: Uint8Array | undefined, width: number, ms: number): Uint8Array[] {
  const isChanged = (pixel: number, at: number) => pixel !== before?.[at]
  const top = Math.max(0, Math.floor(pixels.findIndex(isChanged) / width))
  const bottom = Math.max(top, Math.floor(pixels.findLastIndex(isChanged) / width)) + 1
  const start = top * width
  const rows = pixels
    .subarray(start, bottom * width)
    .map((pixel, i) => (isChanged(pixel, start + i) ? pixel : UNCHANGED))
  const control = [0x21, 0xf9, 4, 0b101, ...word(Math.round(ms / 10)), UNCHANGED, 0]
  const place = [0, top, width, bottom - top].flatMap(word)
  return [Uint8Array.from([...control, 0x2c, ...place, 0, FIRST_WIDTH - 1]), inBlocks(compress(rows))]
}

/** LZW as GIF has it: codes of 9 to 12 bits, lowest bit first, and a new dictionary when 4096 codes are taken. */
function compress(pixels: Uint8Array): number[] {
  const bytes: number[] = []
  const codes = new Map<number, number>()
  let [next, codeWidth, bits, bitCount] = [END + 1, FIRST_WIDTH, 0, 0]
  const write = (code: number) => {
    bits |= code << bitCount
    for (bitCount += codeWidth; bitCount >= 8; bitCount -= 8) {
      bytes.push(bits & 255)
      bits >>>= 8
    }
    if (code !== CLEAR && next === 1 << codeWidth && next < MAX_CODES) codeWidth += 1
  }
  write(CLEAR)
  let prefix = pixels[0] ?? 0
  for (const pixel of pixels.subarray(1)) {
    const pair = (prefix << 8) | pixel
    const known = codes.get(pair)
    if (known === undefined) {
      write(prefix)
      if (next < MAX_CODES) codes.set(pair, next++)
      else {
        write(CLEAR)
        codes.clear()
        ;[next, codeWidth] = [END + 1, FIRST_WIDTH]
      }
    }
    prefix = known ?? pixel
  }
  write(prefix)
  write(END)
  bytes.push(bits & 255)
  return bytes
}

function inBlocks(bytes: readonly number[]): Uint8Array {
  const blocks: number[] = []
  for (let at = 0; at < bytes.length; at += 255) {
    const block = bytes.slice(at, at + 255)
    blocks.push(block.length, ...block)
  }
  return Uint8Array.from([...blocks, 0])
}
