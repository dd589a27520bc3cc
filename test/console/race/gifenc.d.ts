declare module 'gifenc' {
  type Palette = readonly (readonly number[])[]
  type FrameOptions = {
    readonly palette?: Palette
    readonly delay: number
    readonly transparent: boolean
    readonly transparentIndex: number
    readonly dispose: number
  }
  const gifenc: {
    quantize(rgba: Uint8Array, mostColours: number): Palette
    applyPalette(rgba: Uint8Array, palette: Palette): Uint8Array
    GIFEncoder(): {
      writeFrame(pixels: Uint8Array, width: number, height: number, options: FrameOptions): void
      finish(): void
      bytes(): Uint8Array
    }
  }
  export default gifenc
}
