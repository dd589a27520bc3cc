import type { ChatBody } from '../../domain/chat/chat.ts'
import type { ChatCall } from '../provider.ts'
import { unsupported } from '../verdict.ts'

/** A field of the upstream's request, or `outer.inner` for one inside another, and its value; undefined is not sent. */
type Target = { readonly to: string; readonly value: (value: unknown, body: ChatBody, call: ChatCall) => unknown }

/** All that a dialect does with one field of a request: which values it refuses, and what it sends for the others. */
export type FieldRow = {
  /** The change that a caller must make to a value that cannot be sent; undefined if it can. */
  readonly refuses?: (value: unknown, body: ChatBody) => string | undefined
  readonly sends?: readonly Target[]
  /** True of a value that is left out and reported: the answer is the one that was asked for without it, too. */
  readonly drops?: (value: unknown, body: ChatBody) => boolean
}

export type FieldRows = Readonly<Record<string, FieldRow>>
export type FieldTable = ReadonlyMap<string, FieldRow>

/** Written by the dialect's own code, together with others: the conversation, its tools, the output cap. */
export const READ: FieldRow = {}
export const DROPPED: FieldRow = { drops: () => true }
/** A hint: an answer without it is still the answer that was asked for. */
export const IGNORED: FieldRow = {}

export function sent(to: string, value: Target['value'] = (asked) => asked): FieldRow {
  return { sends: [{ to, value }] }
}

export function rows<Name extends string>(
  names: readonly Name[],
  rowOf: (name: Name) => FieldRow,
): Readonly<Record<Name, FieldRow>> {
  return Object.fromEntries(names.map((name) => [name, rowOf(name)])) as Record<Name, FieldRow>
}

export function fieldTable(all: FieldRows): FieldTable {
  return new Map(Object.entries(all))
}

/** Refuses a request with a value that the dialect cannot send. Unknown fields are left out if the provider's entry says so. */
export function requireSupported(
  table: FieldTable,
  body: ChatBody,
  call: Pick<ChatCall, 'dropsUnknown' | 'noteDropped'>,
): void {
  for (const [name, value] of Object.entries(body)) {
    const row = table.get(name)
    if (!row && !call.dropsUnknown) throw unsupported(name, 'must be left out: this model has no such field')
    if (!row || row.drops?.(value, body)) call.noteDropped([name])
    const complaint = row?.refuses?.(value, body)
    if (complaint !== undefined) throw unsupported(name, complaint)
  }
}

export function toFields(table: FieldTable, body: ChatBody, call: ChatCall): Record<string, unknown> {
  requireSupported(table, body, call)
  const fields: Record<string, unknown> = {}
  for (const [name, asked] of Object.entries(body)) {
    for (const { to, value } of table.get(name)?.sends ?? []) put(fields, to, value(asked, body, call))
  }
  return fields
}

function put(fields: Record<string, unknown>, to: string, value: unknown): void {
  if (value === undefined) return
  const [outer = to, inner] = to.split('.')
  fields[outer] = inner === undefined ? value : { ...(fields[outer] as object | undefined), [inner]: value }
}
