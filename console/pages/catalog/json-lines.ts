import { findNodeAtLocation, type ParseError, parseTree } from 'jsonc-parser'

export function jsonLines(text: string) {
  const errors: ParseError[] = []
  const tree = parseTree(text, errors, { disallowComments: true })
  const lineAt = (offset: number) => text.slice(0, offset).split('\n').length
  return { tree, lineAt, brokenAt: errors[0] && lineAt(errors[0].offset) }
}

/** The line of a value by its path, as the server writes it: `models[0].price.input`. A missing field has that of the object that lacks it. */
export function lineOf({ tree, lineAt, brokenAt }: ReturnType<typeof jsonLines>, path: string): number | undefined {
  if (brokenAt !== undefined || !tree) return brokenAt
  const steps = (path.match(/[^.[\]]+/g) ?? []).map((step) => (/^\d+$/.test(step) ? Number(step) : step))
  while (!findNodeAtLocation(tree, steps)) steps.pop()
  return lineAt(findNodeAtLocation(tree, steps)?.offset ?? 0)
}
