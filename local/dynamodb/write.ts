import type { Context } from './context.ts'
import type { Path } from './expression.ts'
import { validationError } from './failures.ts'
import { itemBytes } from './item-bytes.ts'
import { checkKeyBytes, keyIn, keyOnly } from './keys.ts'
import { bind, type Placeholders, type Program, programFor } from './program.ts'
import { checkIndexKeys, type Key, type Schema, type StoredTable } from './stored-table.ts'
import { applyUpdate } from './update.ts'
import type { Item, Value } from './value.ts'

export type WriteKind = 'Put' | 'Update' | 'Delete' | 'ConditionCheck'

export type WriteInput = Placeholders & {
  readonly TableName?: string | undefined
  readonly Key?: Item | undefined
  readonly Item?: Item | undefined
  readonly ConditionExpression?: string | undefined
  readonly UpdateExpression?: string | undefined
  readonly ReturnValuesOnConditionCheckFailure?: string | undefined
}

/** A write of a valid form. Its effect depends on the item that it finds. */
export type Write = {
  readonly kind: WriteKind
  readonly table: StoredTable
  readonly key: Key
  /** The item to put, or the key alone. */
  readonly given: Item
  readonly old: Item | undefined
  readonly program: Program
  readonly context: Context
  readonly showsOld: boolean
}

const NO_ITEM: Item = {}

export function prepareWrite(kind: WriteKind, table: StoredTable, input: WriteInput): Write {
  if (kind === 'ConditionCheck' && input.ConditionExpression === undefined) {
    throw validationError('conditionExpression: Member must not be null')
  }
  const program = programFor({ condition: input.ConditionExpression, update: input.UpdateExpression })
  const context = bind(program, input)
  const given = (kind === 'Put' ? input.Item : input.Key) ?? NO_ITEM
  const key = kind === 'Put' ? keyIn(table.definition, given) : keyOnly(table.definition, given)
  checkKeyBytes(key)
  const old = table.get(key)
  context.item = old ?? NO_ITEM
  return { kind, table, key, given, old, program, context, showsOld: showsOld(input) }
}

function showsOld({ ReturnValuesOnConditionCheckFailure: wanted = 'NONE' }: WriteInput): boolean {
  if (wanted !== 'NONE' && wanted !== 'ALL_OLD') throw validationError('Return values set to invalid value')
  return wanted === 'ALL_OLD'
}

/** A fault in an item to put is reported before its condition is checked. */
export function checkGiven({ kind, table, given }: Write): void {
  if (kind === 'Put') checkIndexKeys(table.definition, given)
}

export function conditionHolds({ program, context }: Write): boolean {
  return !program.condition || program.condition(context)
}

/** The item after the write; undefined if there is none. */
export function outcomeOf(write: Write): Item | undefined {
  switch (write.kind) {
    case 'Put':
      return write.given
    case 'Update':
      return updated(write)
    case 'Delete':
      return undefined
    case 'ConditionCheck':
      return write.old
  }
}

function updated({ table, given, old, program, context }: Write): Item {
  const { update } = program
  if (!update) return old ?? given
  refuseKeyChange(table.definition, update.paths, context.names)
  context.item = old ?? given
  const next = applyUpdate(update, context)
  checkIndexKeys(table.definition, next)
  return next
}

function refuseKeyChange(
  { partitionKey, sortKey }: Schema,
  paths: readonly (readonly number[])[],
  names: readonly string[],
) {
  for (const [first] of paths) {
    const name = names[first as number]
    if (name === partitionKey || name === sortKey) {
      throw validationError(`Cannot update attribute ${name}. This attribute is part of the key`)
    }
  }
}

const MOST_ITEM_BYTES = 400 * 1024

/**
 * A bound of the size of the item after the write: its size before, the bytes of the command, and values that may be in
 * it twice now. The size itself is counted only if the bound is too large. Throws if the item is too large.
 */
export function boundBytes({ key, table, program }: Write, next: Item | undefined, commandBytes: number): number {
  if (!next || commandBytes === 0) return 0
  const bound = (table.mostBytes(key) + commandBytes) * (program.update?.copies ? 2 : 1)
  if (bound <= MOST_ITEM_BYTES) return bound
  const bytes = itemBytes(next)
  if (bytes <= MOST_ITEM_BYTES) return bytes
  throw validationError(
    program.update
      ? 'Item size to update has exceeded the maximum allowed size'
      : 'Item size has exceeded the maximum allowed size',
  )
}

/** The attributes that ReturnValues asks for; undefined for none. */
export function returned(write: Write, next: Item | undefined, wanted: string): Item | undefined {
  switch (wanted) {
    case 'NONE':
      return undefined
    case 'ALL_OLD':
      return write.old
    case 'ALL_NEW':
      return next
    case 'UPDATED_OLD':
      return updatedOld(write)
    default:
      return updatedNew(write, next)
  }
}

// A nested path returns its whole top attribute, as in DynamoDB Local. (In AWS, only the value at the path.)

function updatedNew({ program, context }: Write, next: Item | undefined): Item | undefined {
  if (!next || !program.update) return undefined
  context.item = next
  const { sets, removes, deletes } = program.update
  return pick(
    [...sets, ...removes, ...deletes].filter(({ was }) => was(context) !== undefined),
    context,
  )
}

function updatedOld({ program, context, old }: Write): Item | undefined {
  if (!old || !program.update) return undefined
  context.item = old
  const { sets, removes, deletes } = program.update
  const there = [...sets, ...removes, ...deletes].filter(({ was }) => was(context) !== undefined)
  return pick(there, context)
}

function pick(places: readonly { readonly path: Path }[], { item, names }: Context): Item | undefined {
  if (places.length === 0) return undefined
  const tops = places.map(({ path }) => names[path[0] as number] as string)
  return Object.fromEntries(tops.map((name) => [name, item[name] as Value]))
}
