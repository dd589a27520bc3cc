import { ulid } from '../../layers/gateway/domain/basics/time.ts'
import { joining, newAccount as newPool } from '../../layers/gateway/domain/keys/account.ts'
import type { Act } from '../../layers/gateway/domain/keys/act.ts'
import { issueSecret, KEY_DEFAULTS, newKey } from '../../layers/gateway/domain/keys/new-key.ts'
import { SCOPES } from '../../layers/gateway/endpoints.ts'
import { BRAND } from '../../layers/gateway/names.ts'
import { ACCOUNT } from '../../layers/gateway/store/accounts/account-item.ts'
import {
  adoptKey,
  createAccount,
  grantToAccount,
  setAccountStatus,
} from '../../layers/gateway/store/accounts/change-account.ts'
import type { Tables } from '../../layers/gateway/store/dynamodb/database.ts'
import { createKey } from '../../layers/gateway/store/keys/create-key.ts'
import { readOne } from '../../layers/gateway/store/keys/rotating-item.ts'
import { updateKey } from '../../layers/gateway/store/keys/update-key.ts'
import type { AccountAct, AccountSetup } from './account-history.ts'
import { type Account, newAccount } from './admin-caller.ts'
import type { KeySetup, Step } from './history.ts'
import { perhapsTwice } from './operator.ts'
import type { Random } from './random.ts'

/** The account of a history, as its operator knows it. */
export type Customer = {
  readonly id: string
  /** The version of the last status that all keys have. */
  toldVersion: number
}

/** Everything that the operator's acts on an account take. */
export type Desk = { readonly tables: Tables; readonly random: Random; readonly act: Act }

export async function openCustomer({ tables, random, act }: Desk, setup: AccountSetup): Promise<Customer> {
  const account = newPool(
    { name: 'simulated', notifyBelow: setup.notifyBelow },
    setup.credits,
    act.atMs,
    random.bytes(10),
  )
  await createAccount(tables)(account, act)
  return { id: account.id, toldVersion: account.statusVersion }
}

/** A new key, alone or of an account. */
export async function openKey(
  { tables, random, act }: Desk,
  { credits, lanes, ...limits }: KeySetup,
  customer?: Customer,
): Promise<Account> {
  const { secret, stored } = issueSecret(BRAND.keyPrefix, (bytes) => random.bytes(bytes))
  const settings = { ...KEY_DEFAULTS, name: 'simulated', scopes: SCOPES, ...limits }
  const key = newKey({ settings, credits, prefix: BRAND.keyPrefix, stored }, act.atMs, random.bytes(10))
  const account = customer && (await readOne(tables, ACCOUNT)(customer.id))
  const made = { ...key, ...(account && joining(account)) }
  await perhapsTwice(0, () => createKey(tables)(made, act))
  if (lanes) {
    const next = { ...act, id: ulid(act.atMs, random.bytes(10)) }
    await perhapsTwice(0, () => updateKey(tables)(key.id, { lanes }, next))
  }
  return newAccount(key.id, [{ text: secret, hash: stored.hash, ended: false }])
}

type Told = { readonly customer: Customer; readonly key: Account; readonly setup: KeySetup }

/** A new key, if that is the act. */
export async function operateAccount(
  desk: Desk,
  { act: what, value }: Extract<Step, { do: 'account' }>,
  { customer, key, setup }: Told,
): Promise<Account | undefined> {
  const { tables, random, act } = desk
  const { id } = customer
  const credits = BigInt(1 + value) * 3_000n
  const grant = (amount: bigint) => () => grantToAccount(tables)(id, amount, act)
  const set = setAccountStatus(tables, (bytes) => random.bytes(bytes))
  const setStatus = (status: 'active' | 'suspended' | 'revoked') => async () => {
    const result = await perhapsTwice(value, () => set(id, status, act))
    if (result.changed) customer.toldVersion = Math.max(customer.toldVersion, result.key.statusVersion)
  }
  const acts: Readonly<Record<Exclude<AccountAct, 'new key'>, () => Promise<unknown>>> = {
    grant: () => perhapsTwice(value, grant(credits)),
    correct: () => perhapsTwice(value, grant(-credits)),
    suspend: setStatus('suspended'),
    resume: setStatus('active'),
    close: setStatus('revoked'),
    adopt: () => perhapsTwice(value, () => adoptKey(tables)(key.keyId, id, act)),
  }
  if (what === 'new key') return openKey(desk, { ...setup, credits: 0n, notifyBelow: undefined }, customer)
  await acts[what]()
  return undefined
}
