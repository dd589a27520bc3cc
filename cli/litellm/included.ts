import { realpath } from 'node:fs/promises'
import { dirname, isAbsolute, join, relative, resolve } from 'node:path'
import { plainLine } from '../../layers/gateway/domain/basics/plain-text.ts'
import { CliError } from '../../layers/terminal/cli-error.ts'
import { type Exact, fieldsAt, itemsAt, textAt } from '../reading/exact-json.ts'

const MOST_FILES = 50

type Read = (file: string) => Promise<Exact>

/** A config with the files that its `include` names. As in LiteLLM, their lists are added, and other fields replace. */
export async function withIncluded(file: string, folder: string, read: Read): Promise<Exact> {
  const config = await read(file)
  const names = itemsAt(config, 'include').map((name) => textAt(name) ?? '')
  if (names.length > MOST_FILES) throw new CliError(`'${file}' includes more than ${MOST_FILES} files.`)
  if (names.length === 0) return config
  if (file.includes('://'))
    throw new CliError('The config includes other files: give it as a file, with those beside it.')
  for (const name of names) await requireOwn(resolve(folder, dirname(file)), name)
  const fields = new Map(fieldsAt(config))
  for (const name of names) {
    for (const [key, value] of fieldsAt(await read(join(dirname(file), name)))) {
      const before = fields.get(key)
      fields.set(key, Array.isArray(before) && Array.isArray(value) ? [...before, ...value] : value)
    }
  }
  return Object.fromEntries(fields)
}

/** A config that somebody else wrote must not bring other files of this machine into a catalog. */
async function requireOwn(folder: string, name: string): Promise<void> {
  const from = await realpath(folder).catch(() => folder)
  const path = join(from, name)
  const led = relative(from, await realpath(path).catch(() => path))
  if (led !== '' && ![name, led].some((way) => isAbsolute(way) || way.split(/[\\/]/).includes('..'))) return
  throw new CliError(
    `The config includes '${plainLine(name, 100)}', which is not a file in its own folder. Put it there first.`,
  )
}
