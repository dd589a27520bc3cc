import { answerOf, type Model } from '../around/answers.ts'
import { cpuOf } from '../around/cpu-of.ts'
import { sendMany } from '../around/load.ts'
import { warmUp } from '../around/warm-up.ts'
import { comparedRow, inTurns, type RowGroup } from '../row.ts'
import type { Subject } from '../stand.ts'

/** V8 sees other paths in slow streams. */
const SLOW_WARM_UP = 112

/** A round's figures, in µs. */
type Round = { readonly stream: number; readonly chunk: number; readonly slowChunk: number }

/** The cost of a stream, and of one of its chunks: a stream of a hundred, less a stream of one. */
export const chunk: RowGroup = {
  name: 'chunk',
  async measure(stand) {
    const [bareProxy, waybill] = [await stand.bareProxy(), await stand.waybill()]
    stand.say('chunk: warming up')
    for (const subject of [bareProxy, waybill]) {
      await warmUp(subject, 'streams')
      await sendMany(subject.target, { model: 'hundred-slow-chunks', stream: true }, SLOW_WARM_UP)
    }
    const measures = { bareProxy: () => measureRound(bareProxy), waybill: () => measureRound(waybill) }
    const rounds = await inTurns<keyof typeof measures, Round>(stand, 'chunk', measures)
    const row = (what: string, figure: keyof Round) => {
      const of = (name: keyof typeof measures) => rounds[name]?.map((round) => round[figure])
      return comparedRow(what, 'µs', { waybill: of('waybill'), bareProxy: of('bareProxy') })
    }
    return {
      rows: [
        row('CPU a stream of 100 chunks, all at once, with its three writes', 'stream'),
        row('CPU a chunk, all at once', 'chunk'),
        row('CPU a chunk, one every 5 ms', 'slowChunk'),
      ],
    }
  },
}

async function measureRound(subject: Subject): Promise<Round> {
  const cpu = (model: Model) => cpuOf(subject, { model, stream: true })
  const one = await cpu('one-chunk')
  const hundred = await cpu('hundred-chunks')
  const slow = await cpu('hundred-slow-chunks')
  const moreChunks = answerOf('hundred-chunks').chunks - answerOf('one-chunk').chunks
  return { stream: hundred, chunk: (hundred - one) / moreChunks, slowChunk: (slow - one) / moreChunks }
}
