import { plainLine } from '../../layers/gateway/domain/plain-text.ts'
import { type Exact, fieldsAt } from '../reading/exact-json.ts'

/** Everything that has no counterpart, with where it stands. Names only: a value may be a key. */
export type Said = {
  /** `where` are those of whom the same is said. */
  say(what: string, where?: string): void
  /** Says each field whose name is not known. One that is null, false or empty asks for nothing. */
  sayOthers(value: Exact | undefined, known: RegExp, prefix: string, where?: string): void
  lines(): string[]
}

const MOST_PLACES = 5
const MOST_LINES = 200
const MOST_CHARS = 120

export function openSaid(): Said {
  const places = new Map<string, Set<string>>()
  const said: Said = {
    say(what, where) {
      const of = places.get(what) ?? new Set()
      if (where !== undefined) of.add(plainLine(where, MOST_CHARS))
      places.set(what, of)
    },
    sayOthers(value, known, prefix, where) {
      for (const [name, field] of fieldsAt(value)) {
        if (known.test(name) || isEmpty(field)) continue
        said.say(`${prefix}${plainLine(name, MOST_CHARS)} has no counterpart`, where)
      }
    },
    lines() {
      const all = [...places].map(([what, of]) => (of.size > 0 ? `${what}: ${listed([...of])}` : what))
      const rest = all.length - MOST_LINES
      return rest > 0 ? [...all.slice(0, MOST_LINES), `and ${rest} more`] : all
    },
  }
  return said
}

function listed(places: readonly string[]): string {
  const rest = places.length - MOST_PLACES
  return [...places.slice(0, MOST_PLACES), ...(rest > 0 ? [`and ${rest} more`] : [])].join(', ')
}

function isEmpty(value: Exact): boolean {
  return !value || (typeof value === 'object' && Object.keys(value).length === 0)
}
