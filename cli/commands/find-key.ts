import type { AccountShape } from '../../layers/admin/api/shapes/accounts.ts'
import type { SearchShape } from '../../layers/admin/api/shapes/answers.ts'
import type { KeyShape } from '../../layers/admin/api/shapes/keys.ts'
import { CliError } from '../../layers/terminal/output.ts'
import type { Ask } from '../admin-client/ask.ts'

/** A key, an account or an admin key, as it can be named on the command line. */
type NamedKey = Pick<KeyShape | AccountShape, 'id' | 'name' | 'status'> & {
  readonly last_four?: string
  readonly external_id?: string | null
  readonly previous?: { readonly last_four: string } | null
}

/** The id of a key or an account, or of an admin key, which the list of changes takes, too. */
const IDS = { key: /^(key_[0-9A-HJKMNP-TV-Z]{26}|adminkey_\w+)$/, account: /^acct_[0-9A-HJKMNP-TV-Z]{26}$/ }
const MOST_NAMED = 10

export async function findId(admin: Pick<Ask, 'get' | 'list'>, kind: keyof typeof IDS, text: string): Promise<string> {
  if (IDS[kind].test(text)) return text
  const { [`${kind}s` as const]: first } = await admin.get<SearchShape>('/search', { q: text })
  // A search tells 20 keys at most, by parts of names, too, and those may crowd out the one that is meant.
  const found: readonly NamedKey[] =
    first.length < 20 ? first : (await admin.list<KeyShape | AccountShape>(`/${kind}s`)).data
  return onlyKey(found, text, kind).id
}

export const noSuch = (noun: string, text: string) =>
  `There is no ${noun} '${text}'. 'waybill ${noun.replace(' ', '-')}s list' shows those that exist.`

/** A revoked key counts only if no other is called so: a name and an external id can be given again. */
export function onlyKey<Key extends NamedKey>(keys: readonly Key[], text: string, noun: string): Key {
  const called = keys.filter(({ id, name, external_id, last_four, previous }) =>
    [id, name, external_id, last_four, previous?.last_four].includes(text),
  )
  const living = called.filter(({ status }) => status !== 'revoked' && status !== 'closed')
  const [only, ...others] = living.length > 0 ? living : called
  if (only && others.length === 0) return only
  if (only) throw new CliError(`'${text}' is not one ${noun}, so say its id:${lines([only, ...others])}`)
  const like = keys.filter(({ name }) => name.toLowerCase().includes(text.toLowerCase()))
  if (like.length === 0) throw new CliError(noSuch(noun, text))
  throw new CliError(`There is no ${noun} '${text}'. Did you mean one of these?${lines(like)}`)
}

function lines(keys: readonly NamedKey[]): string {
  const named = keys.slice(0, MOST_NAMED).map(({ id, name, status, last_four }) => {
    return `${id}  ${name} (${status}${last_four === undefined ? '' : `, …${last_four}`})`
  })
  const more = keys.length > MOST_NAMED ? [`… and ${keys.length - MOST_NAMED} more`] : []
  return ['', ...named, ...more].join('\n  ')
}
