import { type Path, placeInList } from './expression.ts'
import { attribute, type Item, isMap, type Value } from './value.ts'

/** The values at the end of the paths, in their maps and lists; a list has its chosen members in their order. */
export function projected(value: Value, paths: readonly Path[], names: readonly string[]): Value | undefined {
  if (paths.some((path) => path.length === 0)) return value
  const rests = new Map<string | number, Path[]>()
  for (const [step, ...rest] of paths as [number, ...number[]][]) {
    const at = placeInList(step) ?? (names[step] as string)
    rests.set(at, [...(rests.get(at) ?? []), rest])
  }
  return Array.isArray(value)
    ? projectedList(value, rests, names)
    : isMap(value)
      ? projectedMap(value, rests, names)
      : undefined
}

type Rests = ReadonlyMap<string | number, readonly Path[]>

function projectedMap(map: Item, rests: Rests, names: readonly string[]): Item | undefined {
  const result: Record<string, Value> = {}
  for (const [at, paths] of rests) {
    const member = typeof at === 'string' ? attribute(map, at) : undefined
    const chosen = member === undefined ? undefined : projected(member, paths, names)
    if (chosen !== undefined) result[at] = chosen
  }
  return Object.keys(result).length > 0 ? result : undefined
}

function projectedList(list: readonly Value[], rests: Rests, names: readonly string[]): Value | undefined {
  const result = list.flatMap((member, place) => {
    const chosen = rests.has(place) ? projected(member, rests.get(place) ?? [], names) : undefined
    return chosen === undefined ? [] : [chosen]
  })
  return result.length > 0 ? result : undefined
}
