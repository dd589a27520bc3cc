import type { Browser } from 'playwright-core'

export const WIDTH = 960
export const HEIGHT = 600
export const CAPTION_HEIGHT = 72

const STYLE = `
  body { margin: 0; background: #0d1117; color: #e6edf3; overflow: hidden }
  h1 { margin: 0; padding-left: 28px; height: ${CAPTION_HEIGHT}px; background: #0b5394;
    color: #ffffff; font: 600 29px/${CAPTION_HEIGHT}px system-ui, sans-serif; white-space: nowrap }
  pre { margin: 20px 28px; font-family: ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace; line-height: 1.4 }
  img { display: block; width: ${WIDTH}px; height: ${HEIGHT - CAPTION_HEIGHT}px }
  .c30 { color: #0d1117; font-weight: bold } .c33 { color: #b58a2f } .c42 { background: #4ade80 } b { color: #8ec4ff }`

/** Draws a caption over a terminal or a picture, and returns red, green, blue and alpha of all pixels. */
export async function openStage(browser: Browser): Promise<(caption: string, body: string) => Promise<Buffer>> {
  const page = await browser.newPage({ viewport: { width: WIDTH, height: HEIGHT } })
  return async (caption, body) => {
    await page.setContent(`<style>${STYLE}</style><h1>${caption}</h1>${body}`)
    const png = (await page.screenshot()).toString('base64')
    const pixels: string = await page.evaluate(`(async () => {
      const bitmap = await createImageBitmap(await (await fetch('data:image/png;base64,${png}')).blob())
      const context = new OffscreenCanvas(${WIDTH}, ${HEIGHT}).getContext('2d')
      context.drawImage(bitmap, 0, 0)
      return new Uint8Array(context.getImageData(0, 0, ${WIDTH}, ${HEIGHT}).data.buffer).toBase64()
    })()`)
    return Buffer.from(pixels, 'base64')
  }
}

export function pictureBody(png: Buffer): string {
  return `<img src="data:image/png;base64,${png.toString('base64')}">`
}
