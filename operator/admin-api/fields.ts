import { WrongValue } from '../setting-rules.ts'
import { AdminError } from './admin-error.ts'

type Rules = Readonly<Record<string, (value: unknown) => unknown>>
type Read<R extends Rules> = { readonly [Name in keyof R]?: ReturnType<R[Name]> }

/** The fields of a body, each by its rule. A field without a rule is refused, so that no typing error is passed over. */
export function readFields<R extends Rules>(body: Readonly<Record<string, unknown>>, rules: R): Read<R> {
  const fields = Object.entries(body).map(([name, value]) => {
    if (!Object.hasOwn(rules, name)) throw unknownField(name, Object.keys(rules))
    return [name, checked(name, rules[name] as R[string], value)]
  })
  return Object.fromEntries(fields)
}

export function checked<T>(name: string, rule: (value: unknown) => T, value: unknown): T {
  try {
    return rule(value)
  } catch (error) {
    if (!(error instanceof WrongValue)) throw error
    throw new AdminError('invalid_request', `'${name}' ${error.message}`, { param: name })
  }
}

export function required<T>(name: string, value: T | undefined): T {
  if (value !== undefined) return value
  throw new AdminError('invalid_request', `'${name}' is missing.`, { param: name })
}

/** Null, or what the rule takes. */
export function orNull<T>(rule: (value: unknown) => T): (value: unknown) => T | null {
  return (value) => (value === null ? null : rule(value))
}

export function textRule(pattern: RegExp, what: string): (value: unknown) => string {
  return (value) => {
    if (typeof value === 'string' && pattern.test(value)) return value
    throw new WrongValue(`must be ${what}.`)
  }
}

export function oneOf<T extends string>(values: readonly T[]): (value: unknown) => T {
  return (value) => {
    if (values.includes(value as T)) return value as T
    throw new WrongValue(`must be ${values.join(' or ')}.`)
  }
}

function unknownField(name: string, known: readonly string[]): AdminError {
  const shown = name.length > 100 ? `${name.slice(0, 100)}…` : name
  const there = known.length > 0 ? `There are: ${known.join(', ')}.` : 'There are none.'
  return new AdminError('invalid_request', `There is no field '${shown}' here. ${there}`, { param: shown })
}
