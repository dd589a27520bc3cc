import { setTimeout as sleep } from 'node:timers/promises'
import { sendOne } from '../around/load.ts'
import { warmUp } from '../around/warm-up.ts'
import { inTurns, type RowGroup } from '../row.ts'
import type { Subject } from '../stand.ts'
import { figureOf, medianOf } from '../statistics.ts'
import { withSpread } from '../words.ts'

const STREAMS = 9
const CHAT = { model: 'two-chunks-apart', stream: true } as const

/** The time to the first token for a client, without other load. */
export const firstToken: RowGroup = {
  name: 'first-token',
  async measure(stand) {
    const [bare, waybill, portkey] = [await stand.bareProxy(), await stand.waybill(), await stand.portkey()]
    stand.say('first-token: warming up')
    for (const subject of [bare, waybill, portkey]) if (subject) await warmUp(subject, 'streams')
    const rounds = await inTurns<'bareProxy' | 'waybill' | 'portkey'>(stand, 'first-token', {
      bareProxy: () => firstTokenMs(bare, STREAMS),
      waybill: () => firstTokenMs(waybill, STREAMS),
      ...(portkey && { portkey: () => firstTokenMs(portkey, STREAMS) }),
    })
    const { bareProxy = [], waybill: ours = [], portkey: theirs } = rounds
    const added = (values: readonly number[]) =>
      `+${withSpread(figureOf(values.map((value, i) => value - (bareProxy[i] ?? Number.NaN))), 'ms')}`
    return {
      rows: [
        {
          what: 'first token, alone: what is added to the bare proxy’s',
          waybill: added(ours),
          bareProxy: withSpread(figureOf(bareProxy), 'ms'),
          ...(theirs && { portkey: added(theirs) }),
        },
      ],
    }
  },
}

/** One after the other, with a pause in which the one before is finished. */
async function firstTokenMs({ target }: Subject, count: number): Promise<number> {
  const values: number[] = []
  for (let i = 0; i < count; i++) {
    values.push((await sendOne(target, CHAT)).firstTokenMs)
    await sleep(5)
  }
  return medianOf(values)
}
