import { coldStart } from '../around/cold-start.ts'
import type { RowGroup } from '../row.ts'
import { figureOf, medianOf } from '../statistics.ts'
import { bundleHelloWorld, bundleOf, lambdaEnvironment } from '../subjects/bundles.ts'
import { chatEvent } from '../subjects/http-event.ts'
import { prepareTables } from '../subjects/prepare-tables.ts'
import { number, whole, withSpread } from '../words.ts'

const STARTS = 9

/** The size of chat's code, and the time to load it in a fresh process. */
export const bundle: RowGroup = {
  name: 'bundle',
  async measure(stand) {
    using chat = bundleOf('chat')
    using hello = bundleHelloWorld()
    const endpoint = await stand.dynamodb()
    const { secret } = await prepareTables(endpoint, await stand.upstreamUrl())
    const event = chatEvent(secret, 'one-chunk')
    const env = lambdaEnvironment(endpoint)
    const loads = { chat: [] as number[], hello: [] as number[] }
    stand.say(`bundle: ${STARTS} starts each of chat and of a function that does nothing`)
    for (let i = 0; i < STARTS; i++) {
      loads.hello.push((await coldStart(stand.cores, hello, event, env)).loadMs)
      loads.chat.push((await coldStart(stand.cores, chat, event, env)).loadMs)
    }
    const added = loads.chat.map((ms, i) => ms - (loads.hello[i] ?? Number.NaN))
    return {
      rows: [
        {
          what: 'chat bundle: size',
          waybill: `${whole(chat.bytes / 1024)} KiB, ${whole(chat.gzipBytes / 1024)} KiB compressed`,
        },
        {
          what: 'chat bundle: load time over a hello-world’s',
          waybill: `+${withSpread(figureOf(added), 'ms')}; hello-world loads in ${number(medianOf(loads.hello))} ms`,
        },
      ],
    }
  },
}
