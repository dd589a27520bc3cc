import type { Demand } from '../../domain/admission/admission.ts'
import {
  COUNTER_NAMES,
  COUNTERS,
  type Counter,
  type CounterName,
  type Counts,
  leftIn,
  limitOf,
  oldestKept,
  takenBy,
  windowOf,
} from '../../domain/admission/counters.ts'
import type { Key } from '../../domain/keys/key.ts'
import type { Item } from '../dynamodb/database.ts'
import { countAttribute, toNano } from '../keys/key-item.ts'
import type { AdmissionRule } from './admission-rules.ts'

type Names = Record<string, string>

/** One counter's part in the two writes of a request. Its texts are joined once, because every request needs them. */
export type CounterWrite = AdmissionRule & {
  readonly counts: Counter['counts']
  /** The change that takes; every admission has its value. */
  readonly take: string
  /** The change at settlement, if anything comes back. A window that is forgotten by then must not make the release fail. */
  readonly giveBack: string | undefined
  readonly nameWindow: (names: Names, atMs: number) => void
}

export function counterWrite(name: CounterName, counter: Counter): CounterWrite {
  const [count, room] = [`#${name}`, `:${name}Room`]
  const isWithin = `${count} <= ${room}`
  const isNewOrWithin = `(attribute_not_exists(${count}) OR ${isWithin})`
  return {
    counts: counter.counts,
    refusal: counter.refusal,
    condition: (cached, demand, values) => {
      const [limit, taken] = [limitOf(cached, name), takenBy(demand, counter)]
      if (limit === undefined || taken === 0n) return undefined
      values[room] = limit - taken
      // A request beyond the whole limit must not pass because it is the first of its window.
      return taken > limit ? isWithin : isNewOrWithin
    },
    isMet: (stored, demand) => {
      const [left, taken] = [leftIn(stored, name, demand.nowMs), takenBy(demand, counter)]
      return left === undefined || taken === 0n || taken <= left
    },
    // A loss is only read: what a write sets comes back with its answer.
    take: `${count} = if_not_exists(${count}, :zero)${TAKEN[counter.counts]}`,
    giveBack: counter.counts === 'credits' ? `${count} = if_not_exists(${count}, :back) - :back` : undefined,
    nameWindow: (names, atMs) => {
      names[count] = countAttribute(counter, windowOf(counter, atMs))
    },
  }
}

const TAKEN: Readonly<Record<Counter['counts'], string>> = { requests: ' + :one', credits: ' + :hold', loss: '' }

export const COUNTER_WRITES = COUNTER_NAMES.map((name) => counterWrite(name, COUNTERS[name]))

/** The attributes of windows that no clock can ask for again. */
export function forgottenAttributes({ counts }: Key, nowMs: number): string[] {
  const forgotten: string[] = []
  for (const name of COUNTER_NAMES) {
    const oldest = oldestKept(COUNTERS[name], nowMs)
    for (const window in counts[name]) if (window < oldest) forgotten.push(countAttribute(COUNTERS[name], window))
  }
  return forgotten
}

/** The counts of a key's copy after an admission that changed these attributes. */
export function countsAfter({ counts }: Key, { nowMs }: Demand, changed: Item): Counts {
  const after = {} as Counts
  for (const name of COUNTER_NAMES) {
    const [current, oldest] = [windowOf(COUNTERS[name], nowMs), oldestKept(COUNTERS[name], nowMs)]
    const kept: Record<string, bigint> = {}
    for (const window in counts[name]) if (window >= oldest) kept[window] = counts[name][window] as bigint
    kept[current] = toNano(changed[countAttribute(COUNTERS[name], current)])
    after[name] = kept
  }
  return after
}
