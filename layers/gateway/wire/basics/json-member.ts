const [QUOTE, BACKSLASH, COLON, COMMA] = [34, 92, 58, 44]
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [91, 93, 123, 125]

/**
 * The text of a member of an object as it stands in valid JSON; undefined if there is none. Of several with the same name
 * it is the last, as for JSON.parse.
 */
export function memberText(json: string, name: string): string | undefined {
  let found: string | undefined
  let depth = 0
  let member: string | undefined
  let from = 0
  for (let at = 0; at < json.length; at++) {
    const sign = json.charCodeAt(at)
    if (sign === QUOTE) {
      const end = endOfText(json, at)
      if (depth === 1 && from === 0) member = JSON.parse(json.slice(at, end + 1))
      at = end
    } else if (sign === OPEN_OBJECT || sign === OPEN_LIST) depth += 1
    else if (sign === COLON && depth === 1) from = at + 1
    else if (sign === CLOSE_OBJECT || sign === CLOSE_LIST || sign === COMMA) {
      if (depth === 1 && from > 0) {
        if (member === name) found = json.slice(from, at).trim()
        from = 0
      }
      if (sign !== COMMA) depth -= 1
    }
  }
  return found
}

function endOfText(json: string, start: number): number {
  let at = start + 1
  for (let sign = json.charCodeAt(at); sign !== QUOTE; sign = json.charCodeAt(at)) at += sign === BACKSLASH ? 2 : 1
  return at
}
