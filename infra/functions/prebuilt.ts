import { fileURLToPath } from 'node:url'

/** Beside the folder of the package's app.js, which has this module in it: nothing is built where it is installed. */
const BUNDLES = new URL('../bundles/', import.meta.url)

export function bundleFunction(name: string): string {
  return fileURLToPath(new URL(`functions/${name}`, BUNDLES))
}

export function bundleTokenizerLayer(): string {
  return fileURLToPath(new URL('layers/tokenizer', BUNDLES))
}
