import type { UsagePage } from '../../../layers/admin/api/shapes/usage.ts'

/** The groups with the highest cost have a colour of their own; five hundred could not be told apart. */
const COLOURS = 7

/** The colour of a group, by its name: 0 is the one with the highest cost. Groups without a colour are drawn as one. */
export type DrawnGroups = ReadonlyMap<string, number>

export function groupsOf({ groups }: UsagePage): DrawnGroups {
  return new Map(groups.slice(0, COLOURS).map(({ group }, i) => [group, i]))
}

export const OTHERS = COLOURS

export function colourOf(group: string, drawn: DrawnGroups): string {
  return `c${drawn.get(group) ?? OTHERS}`
}
