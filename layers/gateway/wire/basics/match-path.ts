import { plainLine } from '../../domain/basics/plain-text.ts'

type Addressed = { readonly method: string; readonly path: string }

export type Match<Route> = { readonly route: Route; readonly parameters: Readonly<Record<string, string>> }

const MOST_SHOWN = 100

/** Finds the routes of a path, in which `{name}` stands for a `segment` and `{name+}` for all that is left. */
export function pathMatcher<Route extends Addressed>(
  routes: readonly Route[],
  { root = '', segment = '[^/]+' } = {},
): (path: string) => Match<Route>[] {
  const patterns = routes.map((route) => [route, patternOf(root + route.path, segment)] as const)
  return (path) =>
    patterns.flatMap(([route, pattern]) => {
      const match = pattern.exec(path)
      return match ? [{ route, parameters: { ...match.groups } }] : []
    })
}

function patternOf(path: string, segment: string): RegExp {
  const source = path.replaceAll('.', '\\.').replace(/\{(\w+)(\+?)\}/g, (_, name, isRest) => {
    return `(?<${name}>${isRest ? '.+' : segment})`
  })
  return new RegExp(`^${source}$`)
}

export function wrongMethod(method: string, path: string, allowed: string): string {
  return `${plainLine(path, MOST_SHOWN)} takes ${allowed}, not ${plainLine(method, MOST_SHOWN)}.`
}
