/** A mark, a text, or anything else up to the next of them. */
const TOKEN = /\s*([{}[\],:]|"(?:[^"\\]|\\.)*"|[^\s{}[\],:]+)/y

export type JsonLines = {
  /** The line of every value by its path, as the server writes it: `models[0].price.input`. */
  readonly lines: ReadonlyMap<string, number>
  /** The line on which the text stops being JSON. */
  readonly brokenAt: number | undefined
}

export function jsonLines(text: string): JsonLines {
  const lines = new Map<string, number>()
  const token = new RegExp(TOKEN)
  let [line, counted] = [1, 0]
  const next = (): string => {
    const [, found = ''] = token.exec(text) ?? []
    const end = token.lastIndex || text.length
    for (; counted < end - found.length; counted++) if (text[counted] === '\n') line += 1
    if (!found) throw new SyntaxError()
    return found
  }
  const value = (path: string, first = next()): void => {
    lines.set(path, line)
    if (first === '{') members((name) => value(path ? `${path}.${name}` : name), '}')
    else if (first === '[') elements(path)
    else JSON.parse(first)
  }
  const members = (member: (name: string) => void, end: string): void => {
    let mark = next()
    while (mark !== end) {
      const name = String(JSON.parse(mark))
      require(next(), ':')
      member(name)
      mark = next()
      if (mark === ',') mark = next()
      else require(mark, end)
    }
  }
  const elements = (path: string): void => {
    let mark = next()
    for (let i = 0; mark !== ']'; i++) {
      value(`${path}[${i}]`, mark)
      mark = next()
      if (mark === ',') mark = next()
      else require(mark, ']')
    }
  }
  try {
    value('')
    return { lines, brokenAt: undefined }
  } catch {
    return { lines, brokenAt: line }
  }
}

function require(found: string, wanted: string): void {
  if (found !== wanted) throw new SyntaxError()
}

/** A field that is missing has the line of the object that lacks it. */
export function lineOf({ lines, brokenAt }: JsonLines, path: string): number | undefined {
  if (brokenAt !== undefined) return brokenAt
  let part = path
  while (part && !lines.has(part)) part = part.replace(/(\.|^)[^.[\]]*$|\[\d+\]$/, '')
  return lines.get(part)
}
