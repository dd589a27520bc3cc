import { readFile } from 'node:fs/promises'
import { parseCatalog } from '../catalog/parse-catalog.ts'
import type { CatalogData } from '../layers/gateway/domain/catalog.ts'
import { CliError } from './cli-error.ts'

/** In a provider's `baseUrl`: the echo upstream that `npm start` brings along. */
const ECHO = 'local:echo'

/** For JSON.parse: puts the address of the echo upstream in its place, where there is one. */
export function namingEcho(echoUrl = ECHO): (name: string, value: unknown) => unknown {
  return (name, value) => (name === 'baseUrl' && value === ECHO ? echoUrl : value)
}

/** The checked catalog of a file. Throws a CliError whose first line says what is wrong, and whose others are more. */
export async function readCatalogFile(file: string, echoUrl?: string): Promise<CatalogData> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new CliError(`The catalog '${file}' cannot be read (${error.code}).`)
  })
  const parsed = parseCatalog(parseJson(text, file, echoUrl))
  if ('catalog' in parsed) return parsed.catalog
  const [first, ...more] = parsed.faults
  throw new CliError(
    [`The catalog '${file}' is not valid: ${first}`, ...more.map((fault) => `also: ${fault}`)].join('\n'),
  )
}

function parseJson(text: string, file: string, echoUrl?: string): unknown {
  try {
    return JSON.parse(text, namingEcho(echoUrl))
  } catch (error) {
    throw new CliError(`The catalog '${file}' is not JSON: ${(error as Error).message}`)
  }
}
