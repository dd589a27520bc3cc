/** The first place of each text between stars leaves the most room for the next, so nothing is tried again. */
export function matchesPattern(pattern: string, id: string): boolean {
  const [first = '', ...rest] = pattern.split('*')
  const last = rest.pop()
  if (last === undefined) return first === id
  const end = id.length - last.length
  let at = first.length
  if (at > end || !id.startsWith(first) || !id.endsWith(last)) return false
  for (const text of rest) {
    const found = id.indexOf(text, at)
    if (found < 0) return false
    at = found + text.length
  }
  return at <= end
}
