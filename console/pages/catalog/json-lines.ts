import { type JSONPath, visit } from 'jsonc-parser'

/** The line of every value by its path, as the server writes it: `models[0].price.input`. */
export function jsonLines(text: string) {
  const lines = new Map<string, number>()
  let brokenAt: number | undefined
  const begin = (_at: number, _length: number, line: number, _column: number, path: () => JSONPath) => {
    lines.set(pathText(path()), line + 1)
  }
  visit(
    text,
    {
      onObjectBegin: begin,
      onArrayBegin: begin,
      onLiteralValue: (_value, ...where) => begin(...where),
      onError(_code, _at, _length, line) {
        brokenAt ??= line + 1
      },
    },
    { disallowComments: true },
  )
  return { lines, brokenAt }
}

function pathText(path: JSONPath): string {
  return path.map((step, i) => (typeof step === 'number' ? `[${step}]` : `${i > 0 ? '.' : ''}${step}`)).join('')
}

/** A field that is missing has the line of the object that lacks it. */
export function lineOf({ lines, brokenAt }: ReturnType<typeof jsonLines>, path: string): number | undefined {
  if (brokenAt !== undefined) return brokenAt
  let part = path
  while (part && !lines.has(part)) part = part.replace(/(\.|^)[^.[\]]*$|\[\d+\]$/, '')
  return lines.get(part)
}
