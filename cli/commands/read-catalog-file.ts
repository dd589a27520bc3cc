import { readFile } from 'node:fs/promises'
import { namingEcho } from '../../layers/admin/catalog/catalog-refusal.ts'
import { parseCatalog } from '../../layers/catalog/parse-catalog.ts'
import { jsonFault } from '../../layers/gateway/domain/basics/json-fault.ts'
import type { CatalogData } from '../../layers/gateway/domain/routing/catalog.ts'
import { CliError } from '../../layers/terminal/output.ts'

/** Stands for the echo upstream of the machine that the file is for. */
export const ANY_ECHO = 'http://127.0.0.1/v1'

export async function readCatalogFile(file: string, echoUrl?: string): Promise<CatalogData> {
  return validCatalog(await readCatalogJson(file, namingEcho(echoUrl)), `The catalog '${file}' is not valid`)
}

export async function readCatalogJson(file: string, reviver?: ReturnType<typeof namingEcho>, what = 'catalog') {
  const text = await readCatalogText(file, file, what)
  try {
    return JSON.parse(text, reviver) as object
  } catch {
    throw new CliError(`The ${what} '${file}' is not JSON: ${jsonFault(text)}.`)
  }
}

/** `name` is the file as it was typed. */
export async function readCatalogText(file: string, name = file, what = 'catalog'): Promise<string> {
  return readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new CliError(`The ${what} '${name}' cannot be read (${error.code}).`)
  })
}

/** Throws a CliError whose first line is the fault, and whose other lines are details. */
export function validCatalog(value: unknown, complaint: string): CatalogData {
  const parsed = parseCatalog(value)
  if ('catalog' in parsed) return parsed.catalog
  throw invalidCatalog(complaint, parsed.faults)
}

export function invalidCatalog(complaint: string, [first, ...more]: readonly string[]): CliError {
  return new CliError([`${complaint}: ${first}`, ...more.map((fault) => `also: ${fault}`)].join('\n'))
}
