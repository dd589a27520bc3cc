import type { z } from 'zod'
import { balanceOf } from '../../gateway/domain/keys/account.ts'
import { isAccountId, type Key, type Versioned } from '../../gateway/domain/keys/key.ts'
import { REFERENCE_DAYS } from '../../gateway/domain/keys/reference.ts'
import { referenceDigest } from '../../gateway/domain/keys/reference-digest.ts'
import { formatCredits, type Nano } from '../../gateway/domain/money/money.ts'
import { ACCOUNT } from '../../gateway/store/accounts/account-item.ts'
import { grantToKey } from '../../gateway/store/accounts/change-account.ts'
import { transfers } from '../../gateway/store/accounts/transfers.ts'
import type { Tables } from '../../gateway/store/dynamodb/database.ts'
import {
  type GrantRecord,
  type GrantResult,
  type grantTo as grantToKind,
  listGrants,
  readGrant,
} from '../../gateway/store/keys/grant-credits.ts'
import { readOne } from '../../gateway/store/keys/rotating-item.ts'
import { AdminError } from './admin-error.ts'
import { type Call, requireScope } from './call.ts'
import { calledBy, changed, changedDetail, keyInPath, ofItsAccount } from './changed-key.ts'
import { wrong } from './fields.ts'
import { cursorOf, listOf, readCursor } from './pages.ts'
import { claimedAct } from './preconditions.ts'
import type { List } from './shapes/answers.ts'
import type { grantBody } from './shapes/bodies.ts'
import type { GrantShape } from './shapes/keys.ts'
import type { grantsQuery } from './shapes/queries.ts'
import { warnOf } from './warnings.ts'

type Sent = z.output<typeof grantBody>

type Owner = Versioned & Pick<Key, 'granted' | 'available'>
type Find<K> = (call: Call) => Promise<K>

export function grantsLister(find: Find<Owner>) {
  return async (call: Call, sent: z.output<typeof grantsQuery>): Promise<List<GrantShape>> => {
    const { id } = await find(call)
    const { limit, reference } = sent
    const [after] = readCursor(sent.after, /^\w{1,40}$/) ?? []
    const grants = await Array.fromAsync(listGrants(call.tables)(id))
    const digest = reference === undefined ? undefined : referenceDigest(reference)
    const isWanted = ({ id: grantId, reference: under }: GrantRecord) =>
      (after === undefined || grantId < after) &&
      (digest === undefined || (under !== undefined && referenceDigest(under) === digest))
    return listOf(grants.reverse().filter(isWanted), limit, grantShape, (grant) => cursorOf(grant.id))
  }
}

export function granter<K extends Owner, Shown>(
  find: Find<K>,
  grantTo: (tables: Tables) => ReturnType<typeof grantToKind<K>>,
  show: (call: Call, owner: K) => Promise<Shown>,
) {
  return async (call: Call, sent: Sent): Promise<GrantShape & Shown & { readonly replayed: boolean }> => {
    const { tables, identity } = call
    const { credits, again } = sent
    const reference = sent.reference === undefined ? undefined : { text: sent.reference, isAgain: again }
    const { id, status } = await find(call)
    const { act, wasDoneTo } = await claimedAct(call)
    const wasDone = await wasDoneTo(id)
    if (!wasDone && !reference && status !== 'revoked') await warnOf(call, { id, credits, grantId: act.id })
    const grant = () => grantTo(tables)(id, credits, act, identity.allowance, reference)
    const owner = wasDone ? await find(call) : await granted(call, id, await grant(), sent)
    const made = await readGrant(tables)(id, act.id)
    if (!made) throw new Error(`The grant ${act.id} is gone.`)
    return { ...grantShape(made), ...(await show(call, owner)), replayed: wasDone }
  }
}

export const list = grantsLister(keyInPath)
export const make = granter(keyInPath, grantToKey, async (call, key) => ({ key: await changedDetail(call, key) }))

type First = { readonly credits?: Nano | undefined; readonly reference?: string | undefined }

/** A key or an account that begins with credits is a grant as well, and only a grant has a reference. */
export function firstGrant({ identity }: Call, { credits = 0n, reference: text }: First) {
  if (credits > 0n) requireScope(identity, 'credits.grant')
  if (text !== undefined && credits === 0n) throw wrong('reference', 'is that of a grant: give credits, too.')
  return { credits, reference: text === undefined ? undefined : { text, isAgain: false } }
}

async function granted<K extends Owner>(call: Call, id: string, result: GrantResult<K>, sent: Sent): Promise<K> {
  const { credits, reference } = sent
  if (result.changed) return result.key
  if (result.why === 'reference_used') {
    const { earlier } = result
    const grant = earlier && ` (${formatCredits(earlier.credits)} at ${earlier.grantedAt}, by ${earlier.by})`
    const message = `The ${await calledBy(call, id)} was granted credits under the reference '${reference}' within the last ${REFERENCE_DAYS} days${grant ?? ''}. Nothing was changed. If this is another grant, ask with again (--again).`
    throw new AdminError('reference_used', message, { param: 'reference' })
  }
  if (result.why === 'has_account') throw await ofItsAccount(call, result.accountId, 'grant', [formatCredits(credits)])
  if (result.why === 'not_available') {
    const available = await availableTo(call, result.key)
    const message = `The ${await calledBy(call, id)} has ${formatCredits(available)} credits available, and ${formatCredits(-credits)} cannot be taken back: those that are held for open requests or spent stay. Nothing was changed.`
    throw new AdminError('credits_not_available', message, { param: 'credits' })
  }
  return changed(call, id, result)
}

/** An account has credits beyond its own item. */
async function availableTo({ tables }: Call, owner: Owner): Promise<Nano> {
  const account = isAccountId(owner.id) ? await readOne(tables, ACCOUNT)(owner.id) : undefined
  return account ? balanceOf(account, await transfers(tables).readPurses(account)).available : owner.available
}

function grantShape({ id, credits, reference, by, grantedAt }: GrantRecord): GrantShape {
  return {
    object: 'grant',
    id,
    credits: formatCredits(credits),
    reference: reference ?? null,
    by,
    granted_at: grantedAt,
  }
}
