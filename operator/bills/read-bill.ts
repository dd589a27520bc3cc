import { gunzipSync } from 'node:zlib'
import { itemsOf, readNodes } from '../reading/json-nodes.ts'
import { type Source, utf8Of } from '../reading/read-source.ts'
import { CliError } from '../terminal/cli-error.ts'
import type { Bill } from './bill.ts'
import { csvBill } from './csv-bills.ts'
import { jsonBill, jsonForm, type Page } from './json-bills.ts'

/** One bill, in one file or several, in their order. */
export function readBill(sources: readonly Source[], mostBytes: number): Bill {
  const texts = sources.map((source) => ({ name: source.name, text: utf8Of(unpacked(source, mostBytes)) }))
  const isJson = texts.map(({ text }) => /^\s*[[{]/.test(text))
  if (!isJson.includes(true)) return csvBill(texts)
  if (isJson.includes(false)) throw new CliError('The files are of different bills: some are JSON, and some are not.')
  const pages = texts.flatMap(({ text, name }) => pagesOf(text, name))
  const [form, ...others] = new Set(pages.filter(({ node }) => hasData(node)).map(jsonForm))
  if (form && others.length === 0) return jsonBill(form, pages)
  throw new CliError(
    `${texts.map(({ name }) => name).join(', ')}: not a bill of OpenAI (costs), Anthropic (cost report) or OpenRouter (activity).`,
  )
}

function hasData(node: Page['node']): boolean {
  return node.kind !== 'object' || itemsOf(node.fields.get('data')?.node).length > 0
}

/** A page, or a list of pages. */
function pagesOf(text: string, name: string): readonly Page[] {
  const node = readNodes(text, name)
  return node.kind === 'list'
    ? node.items.map((item, i) => ({ node: item, name: `${name}, page ${i + 1}` }))
    : [{ node, name }]
}

function unpacked({ bytes, name }: Source, mostBytes: number): Pick<Source, 'bytes' | 'name'> {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return { bytes, name }
  try {
    return { bytes: gunzipSync(bytes, { maxOutputLength: mostBytes }), name }
  } catch (error) {
    const isLarge = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE'
    const why = isLarge ? `has more than ${mostBytes / 1024 / 1024} MB` : 'is not whole, or damaged'
    throw new CliError(`${name}, unpacked, ${why}.`)
  }
}
