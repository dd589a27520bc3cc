import { isDeepStrictEqual } from 'node:util'

type Json = ReturnType<typeof JSON.parse>
type Template = { readonly Resources: Readonly<Record<string, Json>>; readonly Outputs?: Json; readonly Rules?: Json }
type Place = { readonly stackName: string; readonly path: string }

/**
 * A gateway's resources and outputs as they would be in another place: by their paths in the construct, and with the
 * name of the other stack.
 */
export function butForNames({ Resources, Outputs }: Template, { stackName, path }: Place, otherStack: string): Json {
  const pathOf = (resource: Json): string => resource.Metadata?.['aws:cdk:path'] ?? ''
  const within = (resource: Json) => pathOf(resource).replace(`${path}/`, '').replace(`${stackName}/`, '')
  // The functions that CDK itself makes for a stack are beside the construct.
  const isOurs = (resource: Json) => pathOf(resource).startsWith(`${path}/`) || /^[^/]+\/AWS/.test(pathOf(resource))
  const named = new Map(Object.entries(Resources).map(([id, resource]) => [id, `<${within(resource)}>`]))
  // Such as those of CloudFront's origins.
  const madeOfPath = new RegExp(`\\b${path.replaceAll(/\W|Default/g, '')}(\\w+?)[0-9A-F]{8}\\b`, 'g')
  const translated = (value: unknown) =>
    JSON.parse(
      JSON.stringify(value)
        .replaceAll(madeOfPath, '<$1>')
        .replaceAll(/\w+/g, (word) => named.get(word) ?? word)
        .replaceAll(stackName, otherStack)
        .replaceAll(/"aws:cdk:path":"[^"]*"/g, '"aws:cdk:path":""'),
      inOrder,
    )
  const ours = Object.values(Resources).filter(isOurs)
  return {
    Resources: Object.fromEntries(ours.map((resource) => [within(resource), translated(resource)])),
    Outputs: translated(Outputs),
  }
}

/** The actions and resources of a right are in no order: CDK sorts them in some apps. */
function inOrder(key: string, value: Json): Json {
  const isList = ['Action', 'Resource'].includes(key) && Array.isArray(value)
  return isList ? value.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)) : value
}

/** The names of those that are not the same in both. */
export function differencesOf(one: Json, other: Json): string[] {
  const names = [...new Set([...Object.keys(one), ...Object.keys(other)])]
  return names.filter((name) => !isDeepStrictEqual(one[name], other[name]))
}
