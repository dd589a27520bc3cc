import type { AdminRequest } from '../../layers/admin/api/call.ts'
import type { KeyWithSecret } from '../../layers/admin/api/shapes/keys.ts'
import { ADMIN_SCOPES } from '../../layers/gateway/domain/keys/admin-scopes.ts'
import type { Key } from '../../layers/gateway/domain/keys/key.ts'
import { issueSecret } from '../../layers/gateway/domain/keys/new-key.ts'
import type { Reference } from '../../layers/gateway/domain/keys/reference.ts'
import { hashSecret } from '../../layers/gateway/domain/keys/secret.ts'
import { formatCredits, type Nano } from '../../layers/gateway/domain/money/money.ts'
import { ADMIN_ROOT, SCOPES } from '../../layers/gateway/endpoints.ts'
import { BRAND } from '../../layers/gateway/names.ts'
import { type ActKind, keySetup, type Step } from './history.ts'
import type { Told } from './network.ts'
import type { OperatorProcess } from './operator-process.ts'
import { Random } from './random.ts'

type Ask = Extract<Step, { do: 'ask' }>

/** A secret has ended when the operator has been told so. */
export type Issued = { readonly text: string; readonly hash: string; ended: boolean }
export type Account = { readonly keyId: string; readonly secrets: Issued[]; readonly status: ToldStatus }

/** The status that the operator was told last, if no other act on it has begun since that was asked for. */
export type ToldStatus = { begun: number; running: number; told: Key['status'] | undefined }

export function newAccount(keyId: string, secrets: Issued[]): Account {
  return { keyId, secrets, status: { begun: 0, running: 0, told: undefined } }
}

/** The common fields of the answers: the id of a key, or that of a grant. */
export type AdminBody = {
  readonly id?: string
  readonly secret?: string | null
  readonly credits?: string
  readonly error?: { readonly code: string | null }
}

/** A request to the admin API under one Idempotency-Key, sent any number of times. */
export type Asked = {
  readonly act: ActKind
  /** The caller. No caller makes two different requests, so its acts are known by this name. */
  readonly by: string
  /** None if it is a key that is asked for. */
  readonly keyId: string | undefined
  readonly credits: Nano
  readonly reference?: Reference | undefined
  /** The secret that the caller has made, if the admin API has not. */
  readonly own: Issued | undefined
  /** True if earlier secrets end at once. */
  readonly isAbrupt: boolean
  times: number
  /** Nothing that was asked for so often may be left without an answer. */
  isGivenUp: boolean
  /** Every answer that was given, also one that was lost on its way. */
  readonly answers: { readonly status: number; readonly body: AdminBody }[]
}

/** The admin API for callers, and the results so far. */
export type Office = {
  /** The process that serves the admin API now. */
  readonly process: () => OperatorProcess
  readonly accounts: Account[]
  readonly asked: Asked[]
  readonly random: Random
  readonly tell: (told: Told) => void
}

/** The faults between the admin API and its callers, beside those behind it. */
const MANNERS = ['nothing', 'nothing', 'the answer is lost', 'it is asked twice at once'] as const
/** Grants, and corrections that a key can bear and that it cannot. */
const SHARES = [1n, 1n, 2n, -1n, -3n]
const REFERENCES = [undefined, ...[false, false, true].map((isAgain) => ({ text: 'INV-1', isAgain }))]
/** More than a history has faults in a row. */
const MOST_TIMES = 30

/** Asks for a key, or for a rotation or a grant of this one, until there is an answer that says what became of it. */
export async function askAdmin(office: Office, step: Ask, of: Account): Promise<void> {
  const choices = new Random(step.value)
  const manner = choices.pick(MANNERS)
  const { asked, request } = draft(office, step, of, choices)
  office.asked.push(asked)
  const ask = () => askUntilAnswered(office, asked, request, manner === 'the answer is lost')
  await Promise.all(manner === 'it is asked twice at once' ? [ask(), ask()] : [ask()])
}

type Draft = { readonly asked: Asked; readonly request: AdminRequest }

function draft({ asked: { length }, random }: Office, step: Ask, of: Account, choices: Random): Draft {
  const { act, value } = step
  const own = act !== 'grant' && choices.chance(0.5) ? newSecret(random) : undefined
  const ownFields = own && { secret_sha256: own.hash, last_four: lastFour(own) }
  const asked = { act, by: `caller ${length}`, own, isAbrupt: false, times: 0, isGivenUp: false, answers: [] }
  switch (act) {
    case 'create': {
      const { rpm, dailyLimit, maxConcurrent, credits } = keySetup(choices)
      const limits = { rpm, daily_limit: dailyLimit, max_concurrent: maxConcurrent }
      const body = { name: 'made', scopes: SCOPES, ...limits, credits: formatCredits(credits), ...ownFields }
      return { asked: { ...asked, keyId: undefined, credits }, request: post('/keys', body, asked.by) }
    }
    case 'rotate': {
      const isAbrupt = choices.chance(0.3)
      const body = { ...ownFields, ...(isAbrupt && { grace_seconds: 0 }) }
      const request = post(`/keys/${of.keyId}/rotate`, body, asked.by)
      return { asked: { ...asked, keyId: of.keyId, credits: 0n, isAbrupt }, request }
    }
    case 'grant': {
      const credits = choices.pick(SHARES) * BigInt(1 + value) * 1_000n
      const reference = choices.pick(REFERENCES)
      const body = { credits: formatCredits(credits), reference: reference?.text, again: reference?.isAgain }
      const request = post(`/keys/${of.keyId}/grants`, body, asked.by)
      return { asked: { ...asked, keyId: of.keyId, credits, reference }, request }
    }
  }
}

function newSecret(random: Random): Issued {
  const { secret, stored } = issueSecret(BRAND.keyPrefix, (bytes) => random.bytes(bytes))
  return { text: secret, hash: stored.hash, ended: false }
}

function lastFour({ text }: Issued): string {
  return text.slice(-4)
}

/** All send the same Idempotency-Key: it belongs to its sender, and stands for nothing that another one asks for. */
function post(path: string, body: object, by: string): AdminRequest {
  return {
    method: 'POST',
    path: `${ADMIN_ROOT}${path}`,
    query: new URLSearchParams(),
    headers: { 'content-type': 'application/json', 'idempotency-key': 'again' },
    body: Buffer.from(JSON.stringify(body)),
    identity: { by: async () => by, scopes: ADMIN_SCOPES },
  }
}

async function askUntilAnswered(office: Office, asked: Asked, request: AdminRequest, isFirstLost: boolean) {
  for (let time = 1; time <= MOST_TIMES; time++) {
    const isLost = isFirstLost && time === 1
    const before = office.accounts.find(({ keyId }) => keyId === asked.keyId)?.secrets.slice() ?? []
    asked.times += 1
    const answer = await office.process().ask(request)
    office.tell(() => `${asked.by} gets ${answer?.status ?? 'no answer'}${isLost ? ', which is lost' : ''}`)
    if (!answer) continue
    const body = JSON.parse(answer.body as string) as AdminBody
    asked.answers.push({ status: answer.status, body })
    if (isLost) continue
    if (answer.status < 300) hear(office, asked, before, body as KeyWithSecret)
    // Others came first, again and again: that says to ask again, as a failure does.
    if (answer.status < 500 && body.error?.code !== 'conflict') return
  }
  asked.isGivenUp = true
}

/** The caller knows a key, a secret, or both: if the first answer was lost, it may know no secret of the key. */
function hear(
  { accounts }: Office,
  { act, own, isAbrupt }: Asked,
  before: readonly Issued[],
  shown: KeyWithSecret,
): void {
  if (act === 'grant') return
  const { id, secret: made } = shown
  const account = accounts.find(({ keyId }) => keyId === id) ?? newAccount(id, [])
  if (!accounts.includes(account)) accounts.push(account)
  const secret = own ?? (made === null ? undefined : { text: made, hash: hashSecret(made), ended: false })
  if (secret && !account.secrets.includes(secret)) account.secrets.push(secret)
  // A grace that is over by the operator's clock is not shown, and may go on by a gateway's.
  const isAllShown = shown.previous !== null || shown.status === 'revoked' || (isAbrupt && !shown.replayed)
  if (isAllShown) endUnshown(secret ? [...before, secret] : before, shown)
}

/** Secrets that were known before have ended if the key, as it is shown, does not know them any more. */
function endUnshown(secrets: readonly Issued[], { status, last_four: current, previous }: KeyWithSecret): void {
  const known = status === 'revoked' ? [] : [current, previous?.last_four]
  for (const secret of secrets) if (!known.includes(lastFour(secret))) secret.ended = true
}
