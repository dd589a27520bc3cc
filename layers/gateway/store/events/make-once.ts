import type { Act } from '../../domain/keys/act.ts'
import type { Tables, TransactItem } from '../dynamodb/database.ts'
import { transact, WriteOutcomeUnknown } from '../dynamodb/transact.ts'
import { wasDone } from './events.ts'

/** False if a condition failed. */
type Made = 'now' | 'before' | false

/**
 * Makes a change whose event is among its items, once for an act. 'before' if the act has its event already, by an
 * earlier call or by a try whose answer was lost. `of` is the owner of the event.
 */
export async function makeOnce(tables: Tables, of: string, act: Act, items: readonly TransactItem[]): Promise<Made> {
  try {
    if (await transact(tables, items, act)) return 'now'
  } catch (error) {
    if (!(error instanceof WriteOutcomeUnknown)) throw error
    if (await wasDone(tables, of, act).catch(() => false)) return 'before'
    throw error
  }
  return (await wasDone(tables, of, act)) ? 'before' : false
}
