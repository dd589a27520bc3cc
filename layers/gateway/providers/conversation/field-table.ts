import type { ChatBody } from '../../domain/chat.ts'
import type { ChatCall } from '../provider.ts'
import { leaveOut, unsupported } from '../verdict.ts'

/** The change that a caller must make to a value that a dialect does not support; undefined if it supports it. */
export type FieldCheck = (value: unknown, body: ChatBody) => string | undefined

/** Every field of a request that a dialect knows of. */
export type FieldTable = ReadonlyMap<string, FieldCheck>

type FieldNames = {
  /** Fields that the dialect supports with any value; a malformed one is refused when it is read. */
  readonly supported: readonly string[]
  /** Hints: an answer without them is still the answer that was asked for. */
  readonly ignored: readonly string[]
  /** Fields of which only some values are supported. */
  readonly unsupported: Readonly<Record<string, FieldCheck>>
}

export function fieldTable({ supported, ignored, unsupported }: FieldNames): FieldTable {
  const accept: FieldCheck = () => undefined
  const harmless = [...supported, ...ignored].map((name) => [name, accept] as const)
  return new Map([...harmless, ...Object.entries(unsupported)])
}

/** Refuses a request with a value that the dialect does not support. Fields that it does not know may be left out. */
export function requireSupported(
  table: FieldTable,
  body: ChatBody,
  call: Pick<ChatCall, 'dropsUnknown' | 'noteDropped'>,
): void {
  for (const [name, value] of Object.entries(body)) {
    const check = table.get(name)
    if (!check) leaveOut(call, name, 'must be left out: this model has no such field')
    const complaint = check?.(value, body)
    if (complaint !== undefined) throw unsupported(name, complaint)
  }
}
