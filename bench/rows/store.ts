import { fileURLToPath } from 'node:url'
import { startMeasured } from '../around/measured-process.ts'
import { inTurns, type RowGroup } from '../row.ts'
import { figureOf, ratioOf } from '../statistics.ts'
import type { StoreCpu, StoreQuestion } from '../subjects/store-calls.ts'
import { times, withSpread } from '../words.ts'

const PROGRAM = fileURLToPath(new URL('../subjects/store-calls.ts', import.meta.url))
/** Of ten requests through each. */
const TURNS = 5
const WARM_UP_TURNS = 15

/** The cost of one write to the key, beside the same write through the SDK's document client. */
export const store: RowGroup = {
  name: 'store',
  async measure(stand) {
    const args = [PROGRAM, await stand.dynamodb(), await stand.upstreamUrl()]
    await using process = startMeasured(stand.cores, args)
    await process.message()
    const measure = (turns: number) => process.ask<StoreCpu>({ turns } satisfies StoreQuestion)
    stand.say('store: warming up')
    await measure(WARM_UP_TURNS)
    const { calls = [] } = await inTurns<'calls', StoreCpu>(stand, 'store', { calls: () => measure(TURNS) })
    const ours = calls.map((cpu) => cpu.store)
    const theirs = calls.map((cpu) => cpu.sdk)
    const sdk = withSpread(figureOf(theirs), 'µs')
    const ratio = times(ratioOf(ours, theirs))
    return {
      rows: [
        {
          what: 'CPU a call of the store, beside the SDK’s document client',
          waybill: `${withSpread(figureOf(ours), 'µs')}, **${ratio}** the SDK’s ${sdk}`,
        },
      ],
    }
  },
}
