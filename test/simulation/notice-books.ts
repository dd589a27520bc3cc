import type { NoticeBody } from '../../layers/gateway/wire/keys/notice-body.ts'
import { fail, nano, type StoredItem } from './ledger.ts'

const LOW = 'key.balance_low'

/** Every notice that was told, as a receiver sees it. */
export class NoticeBooks {
  readonly #told = new Map<string, NoticeBody>()

  told(notice: NoticeBody): void {
    const before = this.#told.get(notice.id)
    if (before && before.type !== notice.type) fail(`${notice.id} is told as two notices`)
    this.#told.set(notice.id, notice)
  }

  /** A key that has come to rest: all was told that happened to it, and a low balance once for each time it was armed. */
  atRest(keyId: string, item: StoredItem, grants: number, events: ReadonlyMap<string, StoredItem>): void {
    if (item.notices !== undefined) fail(`${keyId} still has a notice on its item`)
    for (const [id, { what, after }] of events) {
      const hasEnded = what === 'key.suspend' || what === 'key.revoke'
      const isChange = (after as { status?: string } | undefined)?.status !== undefined
      if (hasEnded && isChange && !this.#told.has(id)) fail(`the ${what} ${id} was not told`)
    }
    const low = [...this.#told.values()].filter(({ type, data }) => type === LOW && data.key_id === keyId).length
    if (low > grants) fail(`${keyId} was granted ${grants} times, and told to be low ${low} times`)
    if (low === 0 && isLow(item) && item.status !== 'revoked') fail(`${keyId} is low, and was not told`)
  }
}

/** After each write: a sweep will look at a key that has something to be told. */
export function checkWatched(item: StoredItem): void {
  if (item.sweepAt !== undefined) return
  if (item.notices !== undefined) fail(`${item.pk} has notices that no sweep will tell`)
  const isUntold = isLow(item) && item.status !== 'revoked' && item[`told.${LOW}`] === undefined
  if (isUntold) fail(`${item.pk} is low, and no sweep will look at it`)
}

/** Judged by the charge: a balance that began so was not taken across. */
function isLow({ notifyBelow, granted, spent }: StoredItem): boolean {
  if (notifyBelow === undefined || nano(spent) === 0n) return false
  return nano(granted) - nano(spent) < nano(notifyBelow)
}
