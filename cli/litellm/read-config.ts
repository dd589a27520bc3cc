import { realpath } from 'node:fs/promises'
import { dirname, isAbsolute, join, relative, resolve } from 'node:path'
import { isAlias, isMap, isNode, isScalar, isSeq, type Node, parseAllDocuments, type YAMLMap } from 'yaml'
import { plainLine } from '../../layers/gateway/domain/basics/plain-text.ts'
import { CliError } from '../../layers/terminal/output.ts'
import { type Exact, fieldsAt, itemsAt, textAt } from '../reading/exact.ts'

const MOST_FILES = 50

/** A config with the files that its `include` names. Their lists are added, and other fields replace, as in LiteLLM. */
export async function withIncluded(file: string, folder: string, read: (file: string) => Promise<Exact>) {
  const config = await read(file)
  const names = itemsAt(config, 'include').map((name) => textAt(name) ?? '')
  if (names.length > MOST_FILES) throw new CliError(`'${file}' includes more than ${MOST_FILES} files.`)
  if (names.length === 0) return config
  if (file.includes('://')) {
    throw new CliError('The config includes other files: give it as a file, with those beside it.')
  }
  for (const name of names) await requireOwn(resolve(folder, dirname(file)), name)
  const fields = new Map(fieldsAt(config))
  for (const name of names) {
    for (const [key, value] of fieldsAt(await read(join(dirname(file), name)))) {
      const before = fields.get(key)
      fields.set(key, Array.isArray(before) && Array.isArray(value) ? [...before, ...value] : value)
    }
  }
  return fields
}

/** A config that somebody else wrote must not bring other files of this machine into a catalog. */
async function requireOwn(folder: string, name: string): Promise<void> {
  const from = await realpath(folder).catch(() => folder)
  const path = join(from, name)
  const target = relative(from, await realpath(path).catch(() => path))
  if (target !== '' && ![name, target].some((way) => isAbsolute(way) || way.split(/[\\/]/).includes('..'))) return
  throw new CliError(
    `The config includes '${plainLine(name, 100)}', which is not a file in its own folder. Put it there first.`,
  )
}

/** PyYAML takes yes and no for flags, and y and n not. */
const FLAG = {
  tag: 'tag:yaml.org,2002:bool',
  default: true,
  test: /^(?:[Yy]es|YES|[Nn]o|NO|[Tt]rue|TRUE|[Ff]alse|FALSE|[Oo]n|ON|[Oo]ff|OFF)$/,
  resolve: (text: string) => /^(?:yes|true|on)$/i.test(text),
}
/** Numbers and days stay texts. Names that are there twice are found below: the library compares each with all others. */
const OPTIONS = {
  version: '1.1',
  schema: 'failsafe',
  customTags: ['null', FLAG],
  logLevel: 'silent',
  uniqueKeys: false,
} satisfies Parameters<typeof parseAllDocuments>[1]

/** A YAML text as PyYAML reads it: with `<<`, and the last one holds of a name that is there twice, which is told. */
export function readYaml(text: string, name: string, onTwice: (key: string) => void): Exact {
  const [document, ...more] = parseAllDocuments(text, OPTIONS)
  if (!document || !('contents' in document) || !document.contents) throw new CliError(`${name} is empty.`)
  if (more.length > 0) throw new CliError(`${name} has more than one document.`)
  const [fault] = document.errors
  if (fault) {
    const [at] = fault.linePos ?? []
    const place = at ? `: line ${at.line}, column ${at.col}` : ''
    // The library quotes the text in its message, which may have a key of a provider.
    throw new CliError(`${name} is not YAML that can be read${place} (${fault.code}).`)
  }
  // An anchor stands before its aliases. The library would look through the whole text for each of them.
  const anchors = new Map<string, Node>()
  let nodes = 0
  return exactOf(document.contents, 0)

  function exactOf(node: unknown, depth: number): Exact {
    nodes += 1
    // An alias is a copy of its anchor, so a short file can be a very large value.
    if (nodes > 100_000 || depth > 64) throw new CliError(`${name} is too large, or nested too deep.`)
    if (isAlias(node)) {
      const anchored = anchors.get(node.source)
      if (!anchored) throw new CliError(`${name} has an alias of an anchor that does not stand before it.`)
      return exactOf(anchored, depth + 1)
    }
    if (isNode(node) && 'anchor' in node && node.anchor) anchors.set(node.anchor, node)
    if (isSeq(node)) return node.items.map((item) => exactOf(item, depth + 1))
    if (isMap(node)) return objectOf(node, depth)
    return isScalar(node) ? (node.value as Exact) : null
  }

  /** Fields of their own win over those that `<<` brings. */
  function objectOf(map: YAMLMap, depth: number): Exact {
    const [merged, own] = [new Map<string, Exact>(), new Map<string, Exact>()]
    for (const { key, value } of map.items) {
      const field = exactOf(value, depth + 1)
      if (!isScalar(key)) throw new CliError(`${name} has a name that is no text.`)
      const keyText = key.source ?? String(key.value)
      if (own.has(keyText)) onTwice(plainLine(keyText, 60))
      if (keyText !== '<<') own.set(keyText, field)
      else {
        const brought = (Array.isArray(field) ? field : [field]).flatMap((one) => fieldsAt(one))
        for (const [inner, one] of brought) if (!merged.has(inner)) merged.set(inner, one)
      }
    }
    return new Map([...merged, ...own])
  }
}
