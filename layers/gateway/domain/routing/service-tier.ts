/** The names that providers give to the tier at their list price. */
const AT_LIST_PRICE: ReadonlySet<string> = new Set(['auto', 'default', 'standard', 'standard_only', 'on_demand'])
const NAME = /^[\w.-]{1,32}$/

/** The tier in which a provider says it has served an answer, if it is none at the list price. */
export function otherTier(served: unknown): string | undefined {
  if (typeof served !== 'string' || !NAME.test(served)) return undefined
  const name = served.toLowerCase()
  return AT_LIST_PRICE.has(name) ? undefined : name
}
