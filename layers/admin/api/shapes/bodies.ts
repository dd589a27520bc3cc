import { z } from 'zod'
import { ADMIN_SCOPES } from '../../../gateway/domain/keys/admin-scopes.ts'
import { GRACE_MS } from '../../../gateway/domain/keys/key-settings.ts'
import { MOST_REFERENCE_CHARS, REFERENCE_DAYS } from '../../../gateway/domain/keys/reference.ts'
import { ACCOUNT_FIELDS } from '../../settings/account-fields.ts'
import { credits, grantedCredits, maybe, someLine, someOf, textLike, wholeNumber } from '../../settings/rules.ts'
import { factor, PLAN_DEFAULTS, planName, SETTING_FIELDS, someCidrs } from '../../settings/setting-fields.ts'
import type { Frozen } from './parts.ts'
import { accountId } from './queries.ts'

// Bodies of requests. The function loads this file, and not those of answers.

const settings = z.strictObject(SETTING_FIELDS)

const reference = someLine(MOST_REFERENCE_CHARS).describe(
  `The payment behind the credits, such as an invoice: at most ${MOST_REFERENCE_CHARS} characters.`,
)

const OWN_SECRET = {
  secret_sha256: textLike(/^[0-9a-f]{64}$/, 'the SHA-256 of the secret, as 64 digits of lower-case hex').describe(
    'The SHA-256 of a secret that you made, in lower-case hex. The secret itself is never sent.',
  ),
  last_four: textLike(/^[0-9A-Za-z]{4}$/, 'the last four characters of the secret').describe(
    'The last four characters of that secret.',
  ),
}
const SECRET = { secret_sha256: OWN_SECRET.secret_sha256.optional(), last_four: OWN_SECRET.last_four.optional() }

const after = { after: maybe(z.string('must be a text.'), 'The last_id of the page before.') }

const BEGIN = { credits: maybe(credits, 'Credits to begin with, as a decimal string.'), reference }

export const createKeyBody = settings.partial().extend({
  name: SETTING_FIELDS.name,
  ...BEGIN,
  account: maybe(accountId, 'The account whose balance it uses. Then it has no credits of its own.'),
  ...SECRET,
})
export type CreateKeyBody = Frozen<z.input<typeof createKeyBody>>

export const updateKeyBody = settings.partial()
export type UpdateKeyBody = Frozen<z.input<typeof updateKeyBody>>

export const adoptBody = z.strictObject({
  account: accountId.describe('The account that gets the key, its balance, and all that it was charged.'),
})

export const updateAccountBody = z.strictObject(ACCOUNT_FIELDS).partial()

export const createAccountBody = updateAccountBody.extend({ name: ACCOUNT_FIELDS.name, ...BEGIN })
export type CreateAccountBody = Frozen<z.input<typeof createAccountBody>>

export const rotateBody = z.strictObject({
  grace_seconds: wholeNumber(0, GRACE_MS / 1000)
    .default(GRACE_MS / 1000)
    .describe('For how long the old secret works; 0 ends it at once.'),
  ...SECRET,
})
export type RotateBody = Frozen<z.input<typeof rotateBody>>

export const revokeBody = z.strictObject({
  confirm: z.string('must be the name. This is final.').describe('The name of what is ended.'),
})

export const grantBody = z.strictObject({
  credits: grantedCredits.describe(
    'Credits to add, as a decimal string; below 0, credits to take back, at most those that are available.',
  ),
  reference,
  again: z
    .boolean('must be true or false.')
    .default(false)
    .describe(
      `Grant although credits were granted under this reference within ${REFERENCE_DAYS} days; otherwise that is refused with reference_used.`,
    ),
})
export type GrantBody = Frozen<z.input<typeof grantBody>>

export const auditBody = z.strictObject({
  key_id: maybe(
    textLike(/^key_\w{1,40}$/, 'the id of a key'),
    'The key to audit; all keys, and then all accounts, unless given.',
  ),
  account: maybe(accountId, 'The account to audit.'),
  ...after,
})

export const adminKeyBody = z.strictObject({
  name: SETTING_FIELDS.name,
  scopes: someOf(ADMIN_SCOPES).describe('Its holder may do this.'),
  allowlist: someCidrs.describe('The CIDR ranges from which it works: at least one.'),
  daily_grant: credits.describe('The most credits that it grants on a UTC day, as a decimal string.'),
  ...OWN_SECRET,
})

export const secretBody = z.strictObject(OWN_SECRET)

const name = textLike(/^.{1,200}$/, 'the name of a model or provider of the catalog')
export const routesTestBody = z.strictObject({
  model: maybe(name, 'Only routes of this model of the catalog.'),
  provider: maybe(name, 'Only routes to this provider.'),
  ...after,
})

/** A catalog has a validator of its own, which names every fault. */
export const catalogBody = z.looseObject({}).describe('A catalog, as catalog.schema.json describes it.')

const isMeant = z.boolean('must be true or false.').describe('Put it in force although a price is below a cost.')
const versionNote = {
  note: someLine(200).describe(
    'Why it is put in force, at most 200 characters. It is kept with the version, and is no part of the catalog.',
  ),
  below_cost: isMeant.optional(),
}
export const putCatalogBody = catalogBody
  .extend(versionNote)
  .describe('A catalog, and perhaps a note and below_cost beside its fields.')
export type PutCatalogBody = z.output<typeof putCatalogBody>

export const restoreBody = z.strictObject(versionNote)

/** Prices have a validator of their own, which follows the kind of the model. */
export const updatePlanBody = z
  .strictObject({
    factor: factor.describe('The prices of the catalog are multiplied by it: a decimal from 0.0001 to 100.'),
    prices: z.record(z.string(), z.looseObject({}).nullable()).describe('Its own prices; null takes one away.'),
    below_cost: isMeant,
    ...PLAN_DEFAULTS,
  })
  .partial()
export const createPlanBody = updatePlanBody.extend({ name: planName.describe('The name of the plan, for good.') })

export const nothing = z.strictObject({})
