import gifenc from 'gifenc'

/** An image of red, green, blue and alpha. */
export type Frame = { readonly image: Uint8Array; readonly ms: number }

const UNCHANGED = 255
const KEEP_THE_FRAME_BEFORE = 1

/** A GIF that loops for ever. Each frame after the first has only the pixels that changed. */
export function encodeGif(frames: readonly Frame[], width: number, height: number): Uint8Array {
  const images = frames.map(({ image }) => Uint8Array.from(image))
  const palette = gifenc.quantize(Uint8Array.from(Buffer.concat(images)), UNCHANGED)
  const gif = gifenc.GIFEncoder()
  let before: Uint8Array | undefined
  for (const [i, { ms }] of frames.entries()) {
    const pixels = gifenc.applyPalette(images[i] as Uint8Array, palette)
    gif.writeFrame(before ? changedIn(pixels, before) : pixels, width, height, {
      ...(!before && { palette }),
      delay: ms,
      transparent: true,
      transparentIndex: UNCHANGED,
      dispose: KEEP_THE_FRAME_BEFORE,
    })
    before = pixels
  }
  gif.finish()
  return gif.bytes()
}

function changedIn(pixels: Uint8Array, before: Uint8Array): Uint8Array {
  return pixels.map((pixel, i) => (pixel === before[i] ? UNCHANGED : pixel))
}
