import type { ChatBody } from '../../domain/chat.ts'
import type { ChatCall } from '../provider.ts'
import { leaveOut, unsupported } from '../verdict.ts'

/** The change that a caller must make to a value that a dialect has no words for; undefined if it has words. */
export type Lack = (value: unknown, body: ChatBody) => string | undefined

/** Every field of a request that a dialect knows of. */
export type FieldTable = ReadonlyMap<string, Lack>

type FieldNames = {
  /** Fields that the dialect has words for, whatever their value; a malformed one is refused where it is read. */
  readonly says: readonly string[]
  /** Hints: an answer without them is still the answer that was asked for. */
  readonly leavesOut: readonly string[]
  readonly lacks: Readonly<Record<string, Lack>>
}

export function fieldTable({ says, leavesOut, lacks }: FieldNames): FieldTable {
  const lacksNothing: Lack = () => undefined
  const harmless = [...says, ...leavesOut].map((name) => [name, lacksNothing] as const)
  return new Map([...harmless, ...Object.entries(lacks)])
}

/** Refuses a request with a value that the dialect has no words for. Fields that it does not know may be left out. */
export function requireWords(
  table: FieldTable,
  body: ChatBody,
  call: Pick<ChatCall, 'dropsUnknown' | 'noteDropped'>,
): void {
  for (const [name, value] of Object.entries(body)) {
    const lacks = table.get(name)
    if (!lacks) leaveOut(call, name, 'must be left out: this model has no such field')
    const complaint = lacks?.(value, body)
    if (complaint !== undefined) throw unsupported(name, complaint)
  }
}
