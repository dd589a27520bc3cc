import { hash } from 'node:crypto'

/** The longest name of a function in Chat Completions. */
const MAX_NAME = 64
const HASH_CHARS = 10

/** The name of a function in the inner form, which knows no namespaces. A name that is too long ends in its hash. */
export function namespacedName(namespace: unknown, name: string): string {
  const whole = typeof namespace === 'string' && namespace !== '' ? `${namespace}__${name}` : name
  if (whole.length <= MAX_NAME) return whole
  return `${whole.slice(0, MAX_NAME - HASH_CHARS - 1)}_${hash('sha256', whole).slice(0, HASH_CHARS)}`
}
