import type { Act } from '../../domain/keys/act.ts'
import type { Key } from '../../domain/keys/key.ts'
import type { Tables } from '../dynamodb/database.ts'
import { changeAtOnce } from './change-at-once.ts'
import { KEY } from './change-key.ts'

/** From the next request on the key is refused, until it is resumed. Nothing else of it changes. */
export function suspendKey(tables: Tables) {
  return setStatus(tables, 'key.suspend', 'suspended')
}

export function resumeKey(tables: Tables) {
  return setStatus(tables, 'key.resume', 'active')
}

// Written also if the key has this status already: the write ends the version that an earlier act was for, so that one
// whose outcome is unknown cannot land afterwards.
function setStatus(tables: Tables, what: 'key.suspend' | 'key.resume', status: Key['status']) {
  const change = changeAtOnce(tables, KEY, what)
  return (keyId: string, act: Act) =>
    change(keyId, act, ({ purse }) => {
      if (purse?.isWithAccount === undefined) return { set: { status }, pointers: [] }
      // Its account is suspended, and so is the key, until the account is resumed.
      return status === 'active' ? undefined : { set: { status, isWithAccount: false }, pointers: [] }
    })
}
