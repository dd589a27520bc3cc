import { expect, test } from '@jest/globals'
import { BROWSER_PATH } from '../../support/programs.ts'
import { openBrowser } from '../support/browser.ts'
import { encodeGif, type Film } from './gif.ts'

const [WIDTH, HEIGHT] = [120, 90]
const SIZE = WIDTH * HEIGHT

/** Noise takes all 4096 codes several times over; a plain image takes few; the same image twice changes nothing. */
function film(): Film {
  const noise = Uint8Array.from({ length: SIZE }, (_, i) => (Math.imul(i, 2654435761) >>> 16) % 255)
  const plain = new Uint8Array(SIZE).fill(3)
  const dotted = plain.with(WIDTH * 40 + 5, 9).with(WIDTH * 42 + 1, 8)
  const images = [noise, plain, dotted, dotted, noise]
  return {
    width: WIDTH,
    height: HEIGHT,
    palette: Array.from({ length: 255 }, (_, i) => [i, 255 - i, (i * 31) % 256] as const),
    frames: images.map((pixels, i) => ({ pixels, ms: 80 + 10 * i })),
  }
}

const withBrowser = BROWSER_PATH ? test : test.skip

withBrowser(
  'Chromium decodes every frame to the pixels and the duration that were encoded (without Chromium, this is skipped)',
  async () => {
    const { frames, palette, ...size } = film()
    await using stack = new AsyncDisposableStack()
    const browser = await openBrowser()
    stack.defer(() => browser.close())
    const page = await browser.newPage()
    // ImageDecoder is for secure origins only, as localhost is.
    await page.route('**/*', (route) => route.fulfill({ body: '' }))
    await page.goto('http://localhost/')
    const gif = encodeGif({ frames, palette, ...size }).toString('base64')
    const decoded: [number, string][] = await page.evaluate(`(async () => {
    const data = await (await fetch('data:image/gif;base64,${gif}')).arrayBuffer()
    const decoder = new ImageDecoder({ data, type: 'image/gif' })
    await decoder.tracks.ready
    const frames = []
    for (let frameIndex = 0; frameIndex < decoder.tracks.selectedTrack.frameCount; frameIndex++) {
      const { image } = await decoder.decode({ frameIndex })
      const context = new OffscreenCanvas(${WIDTH}, ${HEIGHT}).getContext('2d')
      context.drawImage(image, 0, 0)
      const { data } = context.getImageData(0, 0, ${WIDTH}, ${HEIGHT})
      frames.push([image.duration / 1000, String.fromCharCode(...data.filter((_, i) => i % 4 !== 3))])
    }
    return frames
  })()`)
    expect(decoded.map(([ms]) => ms)).toEqual(frames.map(({ ms }) => ms))
    for (const [i, { pixels }] of frames.entries()) {
      const colours = Buffer.from([...pixels].flatMap((pixel) => [...(palette[pixel] ?? [])]))
      expect(Buffer.from(decoded[i]?.[1] ?? '', 'latin1').equals(colours)).toBe(true)
    }
  },
)
