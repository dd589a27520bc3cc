import type { Film } from './gif.ts'

const MOST_COLOURS = 255

/** One palette for all images of red, green, blue and alpha: the commonest colours, and for the others the nearest. */
export function withPalette(images: readonly Buffer[]): { palette: Film['palette']; pixels: Uint8Array[] } {
  const counts = new Map<number, number>()
  for (const image of images) {
    for (let at = 0; at < image.length; at += 4) {
      const colour = image.readUIntBE(at, 3)
      counts.set(colour, (counts.get(colour) ?? 0) + 1)
    }
  }
  const common = [...counts].sort(([, a], [, b]) => b - a).slice(0, MOST_COLOURS)
  const palette = common.map(([colour]) => toRgb(colour))
  const indexes = new Map([...counts.keys()].map((colour) => [colour, nearest(palette, toRgb(colour))]))
  const pixels = images.map((image) =>
    Uint8Array.from({ length: image.length / 4 }, (_, i) => indexes.get(image.readUIntBE(i * 4, 3)) ?? 0),
  )
  return { palette, pixels }
}

type Rgb = Film['palette'][number]

function toRgb(colour: number): Rgb {
  return [colour >> 16, (colour >> 8) & 255, colour & 255]
}

function nearest(palette: readonly Rgb[], [red, green, blue]: Rgb): number {
  const distances = palette.map(([r, g, b]) => (r - red) ** 2 + (g - green) ** 2 + (b - blue) ** 2)
  return distances.indexOf(Math.min(...distances))
}
