import type { Template } from './template.ts'

/** The resources that each resource waits for, as CloudFormation orders them. */
export type Graph = ReadonlyMap<string, readonly string[]>

/**
 * CDK's own check looks at properties and DependsOn only. CloudFormation also counts the references in policies such as
 * UpdatePolicy, so everything in a resource is looked at, with both branches of every condition.
 */
export function graphOf({ Resources }: Template['json']): Graph {
  return new Map(
    Object.entries(Resources).map(([id, resource]) => [
      id,
      [...new Set([...referencesIn(resource), ...[resource.DependsOn ?? []].flat()])].filter((it) => it in Resources),
    ]),
  )
}

function referencesIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) => {
    if (key === 'Ref') return [inner]
    if (key === 'Fn::GetAtt') return [[inner].flat()[0].split('.')[0]]
    if (key === 'Fn::Sub') return [...namesIn([inner].flat()[0]), ...referencesIn(inner)]
    return referencesIn(inner)
  })
}

/** `${Name}` and `${Name.Attribute}`; `${!Name}` is plain text. */
function namesIn(text: string): string[] {
  return [...text.matchAll(/\$\{(\w+)[.}]/g)].map(([, name]) => name ?? '')
}

/** A way from a resource back to itself; empty if there is none. */
export function circleIn(graph: Graph): string[] {
  const done = new Set<string>()
  const visit = (id: string, way: readonly string[]): string[] => {
    if (way.includes(id)) return [...way.slice(way.indexOf(id)), id]
    if (done.has(id)) return []
    for (const next of graph.get(id) ?? []) {
      const circle = visit(next, [...way, id])
      if (circle.length > 0) return circle
    }
    done.add(id)
    return []
  }
  for (const id of graph.keys()) {
    const circle = visit(id, [])
    if (circle.length > 0) return circle
  }
  return []
}
