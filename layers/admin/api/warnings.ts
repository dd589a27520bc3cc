import { matchesPattern } from '../../gateway/domain/admission/matches-pattern.ts'
import { firstUlid, MINUTE_MS } from '../../gateway/domain/basics/time.ts'
import type { Versioned } from '../../gateway/domain/keys/key.ts'
import { formatCredits, type Nano } from '../../gateway/domain/money/money.ts'
import { readStoredCatalog } from '../../gateway/store/catalog/read-catalog.ts'
import { listGrants } from '../../gateway/store/keys/grant-credits.ts'
import { newest } from '../../gateway/store/keys/newest-keys.ts'
import type { ItemsOf } from '../../gateway/store/keys/rotating-item.ts'
import { closest } from '../../gateway/wire/basics/closest.ts'
import type { ReadSettings } from '../settings/setting-fields.ts'
import { AdminError } from './admin-error.ts'
import type { Call } from './call.ts'

/** A change that may be a mistake. A name is compared with those of the same kind, and the id is that of no other. */
type Asked = Pick<ReadSettings, 'models' | 'notify_below' | 'name'> & {
  readonly id: string
  readonly kind?: Named
  readonly credits?: Nano | undefined
  /** The grant itself, if it has no reference. */
  readonly grantId?: string
}
type Named = ItemsOf<Versioned & { readonly name: string }> & { readonly name: string }
type Check = (call: Call, asked: Asked) => string[] | Promise<string[]>

/** A name is looked for among so many of the newest. Programs that are not asked make many changes, and each would read them. */
const MOST_NAMES = { asked: 1_600, told: 100 }

/** The field that a warning is about, and its messages, by its code. */
const WARNINGS: Readonly<Record<string, readonly [param: string, check: Check]>> = {
  unknown_model: ['models', unknownModels],
  name_taken: ['name', sameName],
  no_receiver: [
    'notify_below',
    ({ tellsNotices }, { notify_below: level }) =>
      tellsNotices || level == null
        ? []
        : ['Nobody receives notices here, so nobody hears of a low balance: there is no webhook, and no bus.'],
  ],
  repeated_grant: ['credits', sameGrant],
}

/** Tells what may be a mistake. A caller who is to be asked first sends `Prefer: handling=strict`, and is refused. */
export async function warnOf(call: Call, asked: Asked): Promise<void> {
  for (const [code, [param, check]] of Object.entries(WARNINGS)) {
    const messages = await check(call, asked)
    call.warnings.push(...messages.map((message) => ({ code, param, message })))
  }
  const [first, ...others] = call.warnings
  if (!first || !isAsked(call)) return
  const all = call.warnings.map(({ message }) => message).join('\n')
  const param = others.every((other) => other.param === first.param) ? first.param : null
  throw new AdminError('needs_confirmation', `${all}\nNothing was changed.`, { param: param ?? undefined })
}

const isAsked = ({ headers }: Call) => /\bhandling=strict\b/.test(headers.prefer ?? '')

async function unknownModels({ tables }: Call, { models }: Asked): Promise<string[]> {
  if (!models?.length) return []
  const ids = (await readStoredCatalog(tables)())?.data.models.map(({ id }) => id) ?? []
  const unknown = models.filter((one) => !ids.some((id) => matchesPattern(one, id)))
  return unknown.map((one) => {
    if (one.includes('*')) return `No model of the catalog matches '${one}'.`
    const near = closest(one, ids)
    return `The catalog has no model '${one}'.${near === undefined ? '' : ` Did you mean '${near}'?`}`
  })
}

async function sameName(call: Call, { id, name, kind }: Asked): Promise<string[]> {
  const most = MOST_NAMES[isAsked(call) ? 'asked' : 'told']
  let read = 0
  for await (const other of kind && name !== undefined ? newest(call.tables, kind)(undefined, most) : []) {
    if (++read > most) break
    if (other.name !== name || other.id === id || other.status === 'revoked') continue
    return [`The ${kind?.name} ${other.id} is called '${name}', too, so that name alone finds neither.`]
  }
  return []
}

async function sameGrant({ tables, nowMs }: Call, { id, credits, grantId }: Asked): Promise<string[]> {
  for await (const grant of grantId ? listGrants(tables)(id, firstUlid(nowMs - MINUTE_MS)) : []) {
    if (grant.credits !== credits || grant.id === grantId) continue
    const earlier = `${formatCredits(grant.credits)} credits were granted at ${grant.grantedAt} by ${grant.by}`
    return [`${earlier}, and this is the same amount again, without a reference.`]
  }
  return []
}
