import { fileURLToPath } from 'node:url'
import { startMeasured } from '../around/measured-process.ts'
import { inTurns, type RowGroup } from '../row.ts'
import { figureOf, ratioOf } from '../statistics.ts'
import type { StoreQuestion } from '../subjects/store-calls.ts'
import { times, withSpread } from '../words.ts'

const PROGRAM = fileURLToPath(new URL('../subjects/store-calls.ts', import.meta.url))
const REQUESTS = 100
const WARM_UP = 200

/** What one write to the key costs, beside the same write through the SDK's document client. */
export const store: RowGroup = {
  name: 'store',
  async measure(stand) {
    const args = [PROGRAM, await stand.dynamodb(), await stand.upstreamUrl()]
    await using process = startMeasured(stand.cores, args)
    await process.message()
    const cpuUs = (question: StoreQuestion) => process.ask<number>(question)
    stand.say('store: warming up')
    for (const via of ['store', 'sdk'] as const) await cpuUs({ via, requests: WARM_UP })
    const { store: ours = [], sdk: theirs = [] } = await inTurns<'store' | 'sdk'>(stand, 'store', {
      store: () => cpuUs({ via: 'store', requests: REQUESTS }),
      sdk: () => cpuUs({ via: 'sdk', requests: REQUESTS }),
    })
    const sdk = withSpread(figureOf(theirs), 'µs')
    const ratio = times(ratioOf(ours, theirs))
    return {
      rows: [
        {
          what: 'CPU a call of the store, beside the SDK’s document client',
          waybill: `${withSpread(figureOf(ours), 'µs')}, **${ratio}** of the SDK’s ${sdk}`,
        },
      ],
    }
  },
}
