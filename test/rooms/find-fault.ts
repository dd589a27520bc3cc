import { matchesGlob } from 'node:path'
import type { Import } from './read-imports.ts'
import { ROOMS, type Room } from './rooms.ts'

const GATEWAY = 'layers/gateway/'

/** A sentence about an import that the table of rooms does not allow. */
export function findFault({ file, line, specifier, target, isType }: Import): string | undefined {
  const name = roomOf(file)
  const room = ROOMS[name ?? '']
  if (room === undefined) return `${file} is in no room of test/rooms/rooms.ts: add a row.`
  if (homeOf(file) === homeOf(target) || matches(target, room.imports)) return undefined
  const hasTypes = matches(target, room.types)
  if (isType && hasTypes) return undefined
  const rule = hasTypes ? 'takes nothing but types from there' : `may import ${mayImport(room)}`
  return `${file}:${line} imports '${specifier}', but ${name} ${rule} (test/rooms/rooms.ts).`
}

/** In words, as the document has it. */
export function mayImport({ imports, types }: Room): string {
  if (!imports) return 'nothing'
  const named = globsOf(imports).join(', ')
  return types ? `${named}; types of ${globsOf(types).join(', ')}` : named
}

/** Looked up once a file, because globs are slow. */
const known = new Map<string, string | undefined>()

/** The last row that has the file. */
export function roomOf(file: string): string | undefined {
  if (!known.has(file)) {
    const row = Object.keys(ROOMS).findLast((glob) => matches(file, glob))
    known.set(file, row)
  }
  return known.get(file)
}

/** The row of a file, with the folders that a `*` of it stands for. */
function homeOf(file: string): string {
  const row = roomOf(file) ?? file
  const folders = shortName(file).split('/', row.split('/').length - 1)
  return [row, ...folders].join(' ')
}

function matches(path: string, globs: string | undefined): boolean {
  return globsOf(globs).some((glob) => matchesGlob(path, glob) || matchesGlob(shortName(path), glob))
}

function globsOf(text: string | undefined): string[] {
  return text?.split(' ') ?? []
}

function shortName(path: string): string {
  return path.startsWith(GATEWAY) ? path.slice(GATEWAY.length) : path
}
