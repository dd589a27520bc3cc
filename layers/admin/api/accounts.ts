import type { z } from 'zod'
import { ulidRandom } from '../../gateway/domain/basics/time.ts'
import { type Account, newAccount } from '../../gateway/domain/keys/account.ts'
import type { Act } from '../../gateway/domain/keys/act.ts'
import { ACCOUNT } from '../../gateway/store/accounts/account-item.ts'
import {
  createAccount,
  grantToAccount,
  setAccountStatus,
  updateAccount,
} from '../../gateway/store/accounts/change-account.ts'
import { newest } from '../../gateway/store/keys/newest-keys.ts'
import { readOne } from '../../gateway/store/keys/rotating-item.ts'
import { accountSettingsIn, withoutNulls } from '../settings/key-settings.ts'
import { weekCosts } from '../usage/usage-reader.ts'
import { accountDetail, accountShape, accountStatus, readPurses } from './account-shape.ts'
import type { Call } from './call.ts'
import { accountInPath, changed, changer, externalIdTaken, oneWith } from './changed-key.ts'
import { nothingToChange } from './fields.ts'
import { firstGrant, granter, grantsLister } from './grants.ts'
import { firstOf, listOf, placeOf, readPlace } from './pages.ts'
import { planDefaults } from './plans.ts'
import { claimedAct, expectedVersionOf } from './preconditions.ts'
import type { AccountDetail, AccountMade, AccountShape } from './shapes/accounts.ts'
import type { List } from './shapes/answers.ts'
import type { createAccountBody, updateAccountBody } from './shapes/bodies.ts'
import type { accountsQuery } from './shapes/queries.ts'
import { warnOf } from './warnings.ts'

export async function list({ tables, nowMs }: Call, sent: z.output<typeof accountsQuery>): Promise<List<AccountShape>> {
  const { limit, status, name, external_id: externalId } = sent
  const after = readPlace(sent.after, 'acct')
  const isWanted = (account: Account) =>
    (status === undefined || accountStatus(account) === status) && (name === undefined || account.name === name)
  const pageSize = status === undefined && name === undefined ? limit + 1 : undefined
  const found =
    externalId === undefined ? newest(tables, ACCOUNT)(after, pageSize) : oneWith(tables, ACCOUNT, externalId, after)
  const [accounts, costs] = await Promise.all([firstOf(found, limit + 1, isWanted), weekCosts(tables, nowMs)])
  const rest = await readPurses(tables, accounts, costs)
  return listOf(rest, limit, accountShape, ({ account }) => placeOf(account))
}

export async function get(call: Call): Promise<AccountDetail> {
  return accountDetail(call, await accountInPath(call))
}

export async function create(call: Call, fields: z.output<typeof createAccountBody>): Promise<AccountMade> {
  const { tables, identity } = call
  const { credits, reference } = firstGrant(call, fields)
  const { act, wasDoneTo } = await claimedAct(call)
  const settings = { ...withoutNulls(accountSettingsIn(fields)), name: fields.name }
  await planDefaults(call, settings.plan)
  // The account has the id of the act, so that a repeated request makes the same one.
  const account = newAccount(settings, credits, act.atMs, ulidRandom(act.id))
  const wasDone = await wasDoneTo(account.id)
  if (!wasDone) {
    await warnOf(call, { ...fields, id: account.id, kind: ACCOUNT })
    const ownerId = await createAccount(tables)(account, act, identity.allowance, reference)
    if (ownerId !== undefined) throw await externalIdTaken(call, account.externalId ?? '', ownerId)
  }
  const now = wasDone ? await readOne(tables, ACCOUNT)(account.id) : account
  return { ...(await accountDetail(call, now ?? account)), replayed: wasDone }
}

export async function update(call: Call, fields: z.output<typeof updateAccountBody>): Promise<AccountDetail> {
  const expectedVersion = expectedVersionOf(call)
  const settings = accountSettingsIn(fields)
  if (Object.keys(settings).length === 0) throw nothingToChange()
  await planDefaults(call, settings.plan)
  const { id } = await accountInPath(call)
  await warnOf(call, { ...fields, id, kind: ACCOUNT })
  const result = await updateAccount(call.tables, call.random)(id, settings, await call.newAct(), expectedVersion)
  return accountDetail(call, await changed(call, id, result, settings.externalId))
}

const { now, forGood } = changer(accountInPath, accountDetail)
/** It holds for every key of the account when this is answered. */
const to = (status: Account['status']) => (call: Call, id: string, act: Act) =>
  setAccountStatus(call.tables, call.random)(id, status, act)

export const suspend = now(to('suspended'))
export const resume = now(to('active'))
export const close = forGood(to('revoked'), 'Closing is final.')

export const listGrants = grantsLister(accountInPath)
export const grant = granter(accountInPath, grantToAccount, async (call, account) => ({
  account: await accountDetail(call, account),
}))
