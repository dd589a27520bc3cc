import { addTo, emptyPart, type Figures, type UsagePart } from '../../gateway/domain/day-total.ts'
import { formatCredits, type Nano } from '../../gateway/domain/money.ts'
import { SUMMED_FIELDS } from '../../gateway/domain/usage-row.ts'
import { recordOf } from '../../gateway/wire/usage-record.ts'
import type { UsageGroup, UsageNumbers, UsagePage } from '../api/shapes/usage.ts'

/** Usage added up under the names of groups. */
export class UsageGroups {
  readonly #parts = new Map<string, UsagePart>()

  add(name: string, part: UsagePart): void {
    const sum = this.#parts.get(name) ?? emptyPart()
    this.#parts.set(name, sum)
    addTo(sum, part)
  }

  get names(): string[] {
    return [...this.#parts.keys()]
  }

  get total(): Figures {
    const sum = emptyPart()
    for (const part of this.#parts.values()) addTo(sum, part)
    return sum
  }

  /** The dearest first. Of equals the name decides, since they are read in no order. */
  dearestFirst(): [name: string, part: UsagePart][] {
    return [...this.#parts].sort(([x, a], [y, b]) => {
      if (a.cost !== b.cost) return a.cost > b.cost ? -1 : 1
      return x < y ? -1 : 1
    })
  }

  /** As the admin API shows them: days in their order, and of all else the dearest first. */
  shown(by: UsageGroup, labels: ReadonlyMap<string, string>): UsagePage['groups'] {
    const groups = this.dearestFirst()
    const highest = groups[0]?.[1].cost ?? 0n
    if (by === 'day') groups.sort(([a], [b]) => (a < b ? -1 : 1))
    return groups.map(([group, part]) => ({ group, label: labels.get(group) ?? group, ...usageNumbers(part, highest) }))
  }
}

const sumsOf = recordOf(SUMMED_FIELDS)

/** `highest` is the largest charge of those beside it. */
export function usageNumbers(part: Figures, highest: Nano): UsageNumbers {
  const more = {
    requests: part.requests,
    completed: part.completed,
    refused: part.refused,
    failed: part.upstreamErrors + part.abandoned,
    margin: formatCredits(part.costOfStated - part.upstreamCost),
    without_cost: part.withoutCost,
    share: highest === 0n ? 0 : Number((part.cost * 1000n) / highest),
  }
  return { ...sumsOf(part), ...more } as UsageNumbers
}
