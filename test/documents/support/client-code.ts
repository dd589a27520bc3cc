import { readDocument } from './markdown.ts'

export type Block = {
  readonly language: 'ts' | 'python'
  /** The heading that it stands under. */
  readonly heading: string
  /** The code as it stands, after the beginning of the first block in its language if it goes on with that one's client. */
  readonly code: string
  /** The packages that it loads. */
  readonly packages: readonly string[]
}

/** The code in docs/clients.md, in its order. */
export const BLOCKS: readonly Block[] = readBlocks()

/** Python with the TypeScript before it. */
export const PAIRS: readonly (readonly [typescript: Block | undefined, python: Block])[] = BLOCKS.flatMap(
  (block, at) => (block.language === 'python' ? [[BLOCKS[at - 1], block] as const] : []),
)

function readBlocks(): Block[] {
  const found = readDocument('docs/clients.md').matchAll(/^##+ ([^\n]*)$|^```(ts|python)\n(.*?)^```$/gms)
  const beginnings: Partial<Record<Block['language'], string>> = {}
  const blocks: Block[] = []
  let heading = ''
  for (const [, title, language, text = ''] of found) {
    if (title !== undefined) heading = title
    if (language !== 'ts' && language !== 'python') continue
    beginnings[language] ??= /^.*?^(?:const )?client = .*?\n/ms.exec(text)?.[0] ?? ''
    const code = /\bclient = /.test(text) || !/\bclient\./.test(text) ? text : beginnings[language] + text
    blocks.push({ language, heading, code, packages: packagesOf(code, language) })
  }
  return blocks
}

function packagesOf(code: string, language: Block['language']): string[] {
  const loads = language === 'ts' ? / from '(.+)'/g : /^from (\w+) import/gm
  return [...new Set(Array.from(code.matchAll(loads), ([, name = '']) => name))]
}
