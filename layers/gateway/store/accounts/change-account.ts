import { type Account, type AccountChanges, accountFields } from '../../domain/keys/account.ts'
import { type Act, newAct } from '../../domain/keys/act.ts'
import { changeEvent } from '../../domain/keys/change-event.ts'
import { isFirstLane, type Key } from '../../domain/keys/key.ts'
import type { Reference } from '../../domain/keys/reference.ts'
import { formatCredits } from '../../domain/money/money.ts'
import { type Allowance, requireAllowance, takeAllowance } from '../admin-keys/allowance.ts'
import type { Tables } from '../dynamodb/database.ts'
import { putNew } from '../dynamodb/transact.ts'
import { makeOnce, putEvent, wasDone } from '../events/events.ts'
import { changeAtOnce } from '../keys/change-at-once.ts'
import { againAfterOthers, type ChangeResult, changeKey, KEY, VersionConflict } from '../keys/change-key.ts'
import { findByExternalId, freeExternalId, takeExternalId } from '../keys/external-id.ts'
import { grantEntry, grantFields, grantTo, takeReference } from '../keys/grant-credits.ts'
import { SWEEP_AT_ONCE } from '../keys/key-item.ts'
import { readKey } from '../keys/read-key.ts'
import { revokeKey } from '../keys/rotate-key.ts'
import { settingChange } from '../keys/update-key.ts'
import { ACCOUNT, toAccountItem } from './account-item.ts'
import { addPurses, becomePurse, mayJoin } from './purse-marks.ts'
import { transfers } from './transfers.ts'
import { wholeKeys } from './whole-keys.ts'

/** The account, its external id, its first grant and its event appear together; if the external id is taken, its owner's id. */
export function createAccount(tables: Tables) {
  const { keys } = tables
  return async (account: Account, act: Act, given?: Allowance, reference?: Reference): Promise<string | undefined> => {
    const { id, granted, externalId } = account
    const allowance = granted > 0n ? given : undefined
    const after = { ...accountFields(account), ...grantFields(granted, reference) }
    const created = await makeOnce(tables, id, act, [
      putNew(keys, toAccountItem(account)),
      ...(externalId === undefined ? [] : [takeExternalId(tables, externalId, id)]),
      ...(granted > 0n ? [putNew(keys, grantEntry(id, granted, act, reference))] : []),
      ...(reference ? [takeReference(tables, id, reference, act)] : []),
      ...putEvent(tables, changeEvent(act, 'account.create', { keyId: id, after })),
      ...(allowance ? takeAllowance(tables, allowance, granted) : []),
    ])
    if (created) return undefined
    const ownerId = externalId === undefined ? undefined : await findByExternalId(tables)(externalId)
    if (ownerId === undefined && allowance) await requireAllowance(tables, allowance, granted)
    if (ownerId === undefined) throw new VersionConflict(`The account ${id} could not be made. Try again.`)
    return ownerId
  }
}

/** Another plan is brought to every key of it, and holds from the next request of each when this has ended. */
export function updateAccount(tables: Tables, random: Random) {
  const change = changeKey(tables, ACCOUNT, 'account.update')
  const { readAccount } = transfers(tables)
  return async (id: string, settings: AccountChanges, act: Act, expectedVersion?: number) => {
    const decide = (account: Account) => {
      const made = settingChange(tables, account, settings)
      const isTold = made && ('plan' in made.set || made.remove.includes('plan'))
      return isTold ? { ...made, set: { ...made.set, ...toBeTold(account) } } : made
    }
    const result: ChangeResult<Account> = await change(id, act, decide, expectedVersion)
    // Keys may have joined until that write.
    const account = result.changed && settings.plan !== undefined ? await readAccount(id) : undefined
    if (!account) return result
    await tellKeys(tables, random)(account, act)
    return { ...result, key: account }
  }
}

/** If a change is cut off after the account was written, the sweep tells the keys. */
const toBeTold = ({ version }: Pick<Account, 'version'>) => ({ statusVersion: version + 1, sweepAt: SWEEP_AT_ONCE })

const EVENTS = { suspended: 'account.suspend', active: 'account.resume', revoked: 'account.close' } as const

type Random = (bytes: number) => Uint8Array

/** Writes the account, then every key of it. It holds from the next request of each when this has ended. */
export function setAccountStatus(tables: Tables, random: Random) {
  const tell = tellKeys(tables, random)
  const { readAccount, readPurses, gather } = transfers(tables)
  return async (id: string, status: Account['status'], act: Act): Promise<ChangeResult<Account>> => {
    const result = await changeKey(tables, ACCOUNT, EVENTS[status])(id, act, ({ version, externalId }) => ({
      set: { status, ...toBeTold({ version }) },
      ...(status === 'revoked' && externalId !== undefined && { alsoWrite: [freeExternalId(tables, externalId)] }),
    }))
    // A closing that was cut off is brought to its end.
    if (!result.changed && !(status === 'revoked' && result.why === 'revoked')) return result
    // Keys may have joined until that write.
    const account = await readAccount(id)
    if (!account) return result
    await tell(account, act)
    const isSame = !result.changed || result.isSame
    if (status !== 'revoked') return { changed: true, key: account, isSame }
    await gather(account, await readPurses(account))
    return { changed: true, key: (await readAccount(id)) ?? account, isSame }
  }
}

/**
 * Brings the status of an account, and its plan, to its keys. A key keeps the version that it was told, so that an act
 * that comes late takes nothing back. A key that was suspended by itself stays so.
 */
export function tellKeys(tables: Tables, random: Random) {
  const { readPurses } = transfers(tables)
  const [suspend, resume] = [changeAtOnce(tables, KEY, 'key.suspend'), changeAtOnce(tables, KEY, 'key.resume')]
  const tellPlan = changeAtOnce(tables, KEY, 'key.plan')
  return async (account: Account, { by, atMs, leftMs }: Act): Promise<void> => {
    const { status, statusVersion, plan: acPlan } = account
    await Promise.all((await readPurses(account)).filter(isFirstLane).map(tellOne))

    function tellOne({ id, purse: before }: Key): Promise<unknown> {
      const act = newAct(by, atMs, random(10), leftMs)
      if (status === 'revoked') return revokeKey(tables)(id, act)
      const tell = before?.plan !== acPlan ? tellPlan : status === 'suspended' ? suspend : resume
      return tell(id, act, ({ status: own, purse }) => {
        if (!purse || purse.statusVersion >= statusVersion) return undefined
        const { isWithAccount = own === 'active' } = purse
        const told = { statusVersion, ...(acPlan !== undefined && { acPlan }) }
        const remove = acPlan === undefined ? ['acPlan'] : []
        if (status === 'suspended') return { set: { ...told, status, isWithAccount }, remove, pointers: [] }
        const set = { ...told, ...(purse.isWithAccount && { status }) }
        return { set, remove: ['isWithAccount', ...remove], pointers: [] }
      })
    }
  }
}

/** The balance of a key that is alone may lie in a pool, as that of an account does. */
export function grantToKey(tables: Tables) {
  const [grant, toPool] = [grantTo(tables, KEY, 'key.grant'), grantToAccount(tables, 'key.grant')]
  const [read, whole] = [readKey(tables), wholeKeys(tables)]
  return async (...given: Parameters<typeof grant>): ReturnType<typeof grant> => {
    const [keyId, , { atMs }] = given
    const alone = await grant(...given)
    if (alone.changed || alone.why !== 'has_account' || alone.accountId !== keyId) return alone
    const result = await toPool(...given)
    if (!('key' in result)) return result
    const [key] = await whole([(await read(keyId)) as Key], atMs)
    return { ...result, key: key as Key }
  }
}

/** A correction beyond what lies in the pool brings the credits back from the purses first. */
export function grantToAccount(tables: Tables, what: 'account.grant' | 'key.grant' = 'account.grant') {
  const grant = grantTo(tables, ACCOUNT, what)
  const { readPurses, recall } = transfers(tables)
  return async (...given: Parameters<typeof grant>): ReturnType<typeof grant> => {
    const [, credits] = given
    const result = await grant(...given)
    if (result.changed || result.why !== 'not_available') return result
    await recall(result.key, await readPurses(result.key), -credits - result.key.available)
    return grant(...given)
  }
}

export type AdoptResult =
  | ChangeResult
  | { readonly changed: false; readonly why: 'has_account'; readonly key: Key }
  | { readonly changed: false; readonly why: 'has_lanes' }
  | { readonly changed: false; readonly why: 'not_joinable'; readonly account: Account }

/**
 * A key that was alone joins an account, with all that it was ever granted: its balance is the account's from then on, and
 * what it has spent is part of what the account has. One transaction, so nothing is lost or counted twice.
 */
export function adoptKey(tables: Tables) {
  const read = readKey(tables)
  const { readAccount, makeRoom } = transfers(tables)
  return (keyId: string, accountId: string, act: Act): Promise<AdoptResult> => {
    return againAfterOthers(act, adopt)

    async function adopt(): Promise<AdoptResult> {
      const [key, found] = await Promise.all([read(keyId), readAccount(accountId)])
      if (!key || !found) return { changed: false, why: 'no_such_key' }
      if (key.purse?.accountId === keyId) return { changed: false, why: 'has_lanes' }
      if (key.purse && !(await wasDone(tables, keyId, act))) return { changed: false, why: 'has_account', key }
      if (key.purse) return { changed: true, key }
      if (key.status === 'revoked') return { changed: false, why: 'revoked' }
      const account = await makeRoom(found)
      if (account.status !== 'active' || !mayJoin(account, account))
        return { changed: false, why: 'not_joinable', account }
      const { granted } = key
      const event = changeEvent(act, 'key.adopt', { keyId, after: { accountId, credits: formatCredits(granted) } })
      const made = await makeOnce(tables, keyId, act, [
        becomePurse(tables, key, account, act.atMs),
        addPurses(tables, [keyId], { accountId, statusVersion: account.statusVersion }, granted),
        ...(granted > 0n
          ? [putNew(tables.keys, grantEntry(accountId, granted, act, { text: `adopted ${keyId}`, isAgain: true }))]
          : []),
        ...putEvent(tables, event),
      ])
      const now = made ? await read(keyId) : undefined
      if (now) return { changed: true, key: now }
      throw new VersionConflict(`Others changed the key ${keyId} at the same moment, again and again. Try again.`)
    }
  }
}
