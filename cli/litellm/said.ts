import { plainLine } from '../../layers/gateway/domain/basics/plain-text.ts'
import { type Exact, fieldsAt } from '../reading/exact-json.ts'

/** Everything that has no counterpart, with where it stands. Names only: a value may be a key. */
export type Said = {
  /** `where` are those of whom the same is said. */
  say(what: string, where?: string): void
  /** Says each field whose name is not known. One that is null, false or empty asks for nothing. */
  sayOthers(value: Exact | undefined, known: RegExp, prefix: string, where?: string): void
  /** Makes one thing, or none if it must be left out, and says why. */
  unlessLeftOut<Made>(where: string, make: () => Made): Made[]
  lines(): string[]
}

/** Something cannot be taken over. Each line of the message is a reason. */
export class LeftOut extends Error {}

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
    unlessLeftOut(where, make) {
      try {
        return [make()]
      } catch (error) {
        if (!(error instanceof LeftOut)) throw error
        for (const reason of error.message.split('\n')) said.say(reason, where)
        return []
      }
    },
    lines: () =>
      few(
        [...places].map(([what, of]) => (of.size > 0 ? `${what}: ${few([...of], MOST_PLACES).join(', ')}` : what)),
        MOST_LINES,
      ),
  }
  return said
}

function few(texts: readonly string[], most: number): string[] {
  const rest = texts.length - most
  return [...texts.slice(0, most), ...(rest > 0 ? [`and ${rest} more`] : [])]
}

function isEmpty(value: Exact): boolean {
  return !value || (typeof value === 'object' && Object.keys(value).length === 0)
}
