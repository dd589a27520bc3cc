import { hashSecret } from '../../layers/gateway/domain/keys/secret.ts'
import { formatCredits } from '../../layers/gateway/domain/money/money.ts'
import type { AdminBody, Asked } from './admin-caller.ts'
import { fail as failBecause, type Ledger, nano, type StoredItem } from './ledger.ts'

/** A key that is revoked stays so; others who come first, again and again, leave it open what becomes of an act. */
const REFUSALS = ['key_revoked', 'conflict']
/** An act that is refused for these is never done. */
const FINAL = ['key_revoked', 'reference_used']

/** When nothing is running: every request was done once at most, and a caller that was told so was told the truth. */
export function checkAsked(ledger: Ledger, asked: Asked): void {
  const { act, by, keyId, credits, answers } = asked
  const fail = (what: string) => failBecause(`${act} for ${by}, asked for ${asked.times} times, ${what}`)
  if (asked.isGivenUp) fail('was never answered')
  const { events, grants } = ledger.doneFor(by)
  if (events.length > 1) fail(`was done ${events.length} times`)
  const [event] = events
  if (event && (event.what !== `key.${act}` || event.keyId !== (keyId ?? event.keyId))) fail('was another act')
  const granted = grants.map((grant) => nano(grant.credits))
  if (granted.join() !== (event && credits !== 0n ? `${credits}` : '')) fail(`granted ${granted.join(' and ')}`)
  const told = answers.filter(({ status }) => status < 300)
  for (const { body } of told) if (!event || !isOf(asked, event, body)) fail(`was told as ${body.id}`)
  const refusals = answers.filter(({ status }) => status >= 400 && status < 500).map(({ body }) => body.error?.code)
  const expected = [
    ...REFUSALS,
    ...(credits < 0n ? ['credits_not_available'] : []),
    ...(asked.reference?.isAgain === false ? ['reference_used'] : []),
    // A key of an account is granted nothing.
    ...(act === 'grant' && ledger.accounts.accountOf(keyId ?? '') !== undefined ? [''] : []),
  ]
  const wrong = refusals.find((code) => !expected.includes(code ?? ''))
  if (wrong !== undefined) fail(`was refused with ${wrong}`)
  if (event && refusals.some((code) => FINAL.includes(code ?? ''))) fail('was refused, and done')
  checkSecrets(ledger, asked, event, fail)
}

/** A history takes no month: of the grants to a key under one reference, all but one were asked for again. */
export function checkReferences(ledger: Ledger, all: readonly Asked[]): void {
  const first = new Set<string>()
  for (const { by, keyId, reference } of all) {
    if (!reference || reference.isAgain || ledger.doneFor(by).grants.length === 0) continue
    const name = `${keyId} ${reference.text}`
    if (first.has(name)) failBecause(`two grants under one reference, ${name}, and no word was asked for`)
    first.add(name)
  }
}

function isOf({ act, credits }: Asked, event: StoredItem, { id, credits: told }: AdminBody): boolean {
  if (act !== 'grant') return id === event.keyId
  return id === event.sk && told === formatCredits(credits)
}

/** A secret that the caller has made is the one that the key got; otherwise it is told once at most. */
function checkSecrets(
  ledger: Ledger,
  { act, own, answers }: Asked,
  event: StoredItem | undefined,
  fail: (what: string) => never,
): void {
  const told = answers.flatMap(({ body }) => body.secret ?? [])
  if (told.length > (own || act === 'grant' ? 0 : 1)) fail(`was told with ${told.length} secrets`)
  const hashes = [...told.map(hashSecret), ...(own && event ? [own.hash] : [])]
  for (const hash of hashes) {
    if (!ledger.wasInForce(event?.keyId as string, hash)) fail('was told with a secret that the key never had')
  }
}
