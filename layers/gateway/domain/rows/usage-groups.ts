import { addTo, emptyPart, type UsagePart } from './day-total.ts'

type Group<Name> = [name: Name, part: UsagePart]

/** Usage added up under the names of groups; null for what has no name. */
export class UsageGroups<Name extends string | null = string> {
  readonly #parts = new Map<Name, UsagePart>()

  static of<Usage extends { readonly part: UsagePart }, Name extends string | null>(
    all: Iterable<Usage>,
    nameOf: (usage: Usage) => Name,
  ): UsageGroups<Name> {
    const groups = new UsageGroups<Name>()
    for (const usage of all) groups.add(nameOf(usage), usage.part)
    return groups
  }

  add(name: Name, part: UsagePart): void {
    const sum = this.#parts.get(name) ?? emptyPart()
    this.#parts.set(name, sum)
    addTo(sum, part)
  }

  get total(): UsagePart {
    const sum = emptyPart()
    for (const part of this.#parts.values()) addTo(sum, part)
    return sum
  }

  byName(): Group<Name>[] {
    return [...this.#parts].sort(([a], [b]) => ((a ?? '') < (b ?? '') ? -1 : 1))
  }

  /** The name decides between equals, since they are read in no order. */
  dearestFirst(): Group<Name>[] {
    return this.byName().sort(([, a], [, b]) => (a.cost > b.cost ? -1 : Number(a.cost < b.cost)))
  }
}
