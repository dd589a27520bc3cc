import type { SearchShape } from '../../layers/admin/api/shapes/answers.ts'
import type { KeyShape } from '../../layers/admin/api/shapes/keys.ts'
import { CliError } from '../../layers/terminal/cli-error.ts'
import type { Ask } from '../admin-client/ask.ts'

/** A key or an admin key, as it can be named on the command line. */
type NamedKey = Pick<KeyShape, 'id' | 'name' | 'status' | 'last_four'> & {
  readonly external_id?: string | null
  readonly previous?: { readonly last_four: string } | null
}

type Words = { readonly noun: string; readonly list: string }

const KEYS: Words = { noun: 'key', list: 'waybill keys list' }
/** The id of a key, or of an admin key, which the list of changes takes, too. */
const ID = /^(key_[0-9A-HJKMNP-TV-Z]{26}|adminkey_\w+)$/
/** The most keys that a search tells. */
const MOST_FOUND = 20
const MOST_NAMED = 10

export async function findKeyId(admin: Pick<Ask, 'get' | 'list'>, text: string): Promise<string> {
  if (ID.test(text)) return text
  const { keys } = await admin.get<SearchShape>('/search', { q: text })
  // Parts of names are found, too, and may crowd out the key that is meant.
  const found = keys.length < MOST_FOUND ? keys : (await admin.list<KeyShape>('/keys')).data
  return onlyKey(found, text, KEYS).id
}

/** A revoked key counts only if no other is called so: a name and an external id can be given again. */
export function onlyKey<Key extends NamedKey>(keys: readonly Key[], text: string, { noun, list }: Words): Key {
  const called = keys.filter(({ id, name, external_id, last_four, previous }) =>
    [id, name, external_id, last_four, previous?.last_four].includes(text),
  )
  const living = called.filter(({ status }) => status !== 'revoked')
  const [only, ...others] = living.length > 0 ? living : called
  if (only && others.length === 0) return only
  if (only) throw new CliError(`'${text}' is not one ${noun}, so say its id:${lines([only, ...others])}`)
  const like = keys.filter(({ name }) => name.toLowerCase().includes(text.toLowerCase()))
  const hint = like.length > 0 ? ` Did you mean one of these?${lines(like)}` : ` '${list}' shows those that exist.`
  throw new CliError(`There is no ${noun} '${text}'.${hint}`)
}

function lines(keys: readonly NamedKey[]): string {
  const named = keys
    .slice(0, MOST_NAMED)
    .map(({ id, name, status, last_four }) => `${id}  ${name} (${status}, …${last_four})`)
  const more = keys.length > MOST_NAMED ? [`… and ${keys.length - MOST_NAMED} more`] : []
  return ['', ...named, ...more].join('\n  ')
}
