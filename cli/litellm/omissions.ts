import { plainLine } from '../../layers/gateway/domain/basics/plain-text.ts'
import { type Exact, fieldsAt, isObject } from '../reading/exact.ts'

/** Something cannot be taken over. Each line of the message is a reason. */
export class LeftOut extends Error {}

const MOST_CHARS = 120

/** Everything that has no counterpart, and where it stands, by names only: a value may be a key. */
export class Omissions {
  readonly #places = new Map<string, Set<string>>()

  add(what: string, where?: string): void {
    const places = this.#places.get(what) ?? new Set()
    this.#places.set(what, places)
    if (where !== undefined) places.add(plainLine(where, MOST_CHARS))
  }

  /** Adds each field whose name is not known. One that is null, false or empty asks for nothing. */
  addUnknown(value: Exact | undefined, known: RegExp, prefix: string, where?: string): void {
    for (const [name, field] of fieldsAt(value)) {
      const isEmpty = !field || (isObject(field) && field.size === 0) || (Array.isArray(field) && field.length === 0)
      if (!isEmpty && !known.test(name)) this.add(`${prefix}${plainLine(name, MOST_CHARS)} has no counterpart`, where)
    }
  }

  unlessLeftOut<Made>(where: string, make: () => Made): Made[] {
    try {
      return [make()]
    } catch (error) {
      if (!(error instanceof LeftOut)) throw error
      for (const reason of error.message.split('\n')) this.add(reason, where)
      return []
    }
  }

  lines(): string[] {
    const lines = [...this.#places].map(([what, places]) =>
      places.size > 0 ? `${what}: ${few([...places], 5).join(', ')}` : what,
    )
    return few(lines, 200)
  }
}

function few(texts: readonly string[], most: number): string[] {
  const rest = texts.length - most
  return [...texts.slice(0, most), ...(rest > 0 ? [`and ${rest} more`] : [])]
}
