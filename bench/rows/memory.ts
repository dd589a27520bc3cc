import { stageOf } from '../../infra/stages.ts'
import { LAMBDA_HOST, type Reply, withPath } from '../around/cold-start.ts'
import { heapLimits } from '../around/lambda-size.ts'
import { startMeasured } from '../around/measured-process.ts'
import type { RowGroup } from '../row.ts'
import { bundleOf, lambdaEnvironment } from '../subjects/bundles.ts'
import { chatEvent } from '../subjects/http-event.ts'
import { prepareTables } from '../subjects/prepare-tables.ts'
import { whole } from '../words.ts'

const STREAMS = 1_000
const MB = 1024 * 1024

/** The memory of chat as Lambda runs it: the bundle, one stream after the other. The upstream reports its tokens. */
export const memory: RowGroup = {
  name: 'memory',
  async measure(stand) {
    using chat = bundleOf('chat')
    const endpoint = await stand.dynamodb()
    const { secret } = await prepareTables(endpoint, await stand.upstreamUrl())
    const { chatMemoryMb } = stageOf('prod')
    const env = withPath(lambdaEnvironment(endpoint, chatMemoryMb))
    const args = [...heapLimits(chatMemoryMb), LAMBDA_HOST]
    await using host = startMeasured(stand.cores, args, { cwd: chat.folder, env })
    await host.message()
    await host.ask({ load: true })
    const loaded = await host.consumption()
    const event = chatEvent(secret, 'hundred-chunks')
    for (let i = 0; i < STREAMS; i++) {
      if (i % 250 === 0) stand.say(`memory: ${i} of ${STREAMS} streams`)
      const { statusCode } = await host.ask<Reply>({ event })
      if (statusCode !== 200) throw new Error(`The bundle answered ${statusCode}.`)
    }
    const after = await host.consumption()
    return {
      rows: [
        {
          what: 'RSS of the chat bundle after 1,000 streams, without the tokenizer',
          waybill: `${whole(after.rssBytes / MB)} MB; ${whole(loaded.rssBytes / MB)} MB when just loaded`,
        },
      ],
    }
  },
}
