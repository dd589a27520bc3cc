import type { Act } from '../../domain/keys/act.ts'
import type { Key } from '../../domain/keys/key.ts'
import { ACCOUNT } from '../accounts/account-item.ts'
import type { Tables } from '../dynamodb/tables.ts'
import { changeAtOnce } from './change-at-once.ts'
import { againAfterOthers, type ChangeResult, KEY, VersionConflict } from './change-key.ts'
import { readKey } from './read-key.ts'
import { readOne } from './rotating-item.ts'

// Written also if the key has this status already: the write ends the version that an earlier act was for, so that one
// whose outcome is unknown cannot land afterwards.

/** From the next request on the key is refused, until it is resumed. Nothing else of it changes. */
export function suspendKey(tables: Tables) {
  const change = changeAtOnce(tables, KEY, 'key.suspend')
  return (keyId: string, act: Act) => change(keyId, act, (key) => toStatus(key, 'suspended'))
}

/** A key whose account is suspended stays so, even if it was suspended by itself: then it is returned as it is. */
export function resumeKey(tables: Tables) {
  const [change, readAccount] = [changeAtOnce(tables, KEY, 'key.resume'), readOne(tables, ACCOUNT)]
  return (keyId: string, act: Act): Promise<ChangeResult> =>
    againAfterOthers(act, async () => {
      const known = await readKey(tables)(keyId)
      const account = known?.purse && (await readAccount(known.purse.accountId))
      let isLate = false
      const result = await change(keyId, act, (key) => {
        // It was told a status of its account that is newer than the one here.
        isLate = (key.purse?.statusVersion ?? 0) > (account?.statusVersion ?? 0)
        return isLate || account?.status === 'suspended' ? undefined : toStatus(key, 'active')
      })
      if (isLate) throw new VersionConflict(`The account of the key ${keyId} was changed again and again. Try again.`)
      return result
    })
}

function toStatus({ purse }: Key, status: Key['status']) {
  return { set: { status }, remove: purse ? ['isWithAccount'] : [], pointers: [] }
}
