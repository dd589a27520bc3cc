import { cpuOf, type Turn } from '../around/cpu-of.ts'
import { sendRarely } from '../around/load.ts'
import { warmUp } from '../around/warm-up.ts'
import { comparedRow, inTurns, type RowGroup } from '../row.ts'
import type { Subject } from '../stand.ts'

const CHAT = { model: 'hundred-chunks', stream: false } as const
/** Many short ones: within one the machine is equally fast for all subjects, and seldom in two that are seconds apart. */
const ROUNDS = 21
const TURN: Turn = { ms: 150, beginningMs: 50 }

/** The cost of a request whose answer is not streamed. */
export const json: RowGroup = {
  name: 'json',
  async measure(stand) {
    const subjects = { bareProxy: await stand.bareProxy(), waybill: await stand.waybill() }
    stand.say('json: warming up')
    for (const subject of Object.values(subjects)) await warmUp(subject, 'wholes')
    const cpu = (subject: Subject) => () => cpuOf(subject, CHAT, TURN)
    const cpuOfFew = (subject: Subject) => () => cpuOf(subject, CHAT, { ...TURN, send: sendRarely })
    const measures = {
      bareProxy: cpu(subjects.bareProxy),
      waybill: cpu(subjects.waybill),
      fewOfBareProxy: cpuOfFew(subjects.bareProxy),
      fewOfWaybill: cpuOfFew(subjects.waybill),
    }
    const found = await inTurns<keyof typeof measures>(stand, 'json', measures, ROUNDS)
    const { waybill, bareProxy, fewOfBareProxy, fewOfWaybill } = found
    return {
      rows: [
        comparedRow('CPU a JSON request, with its three writes', 'µs', { waybill, bareProxy }),
        comparedRow('the same, one request at a time with a pause of 5 ms, of the bare proxy as of Waybill', 'µs', {
          waybill: fewOfWaybill,
          bareProxy: fewOfBareProxy,
        }),
      ],
    }
  },
}
