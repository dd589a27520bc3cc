import { LAMBDA_HOST, type Reply, withPath } from '../around/cold-start.ts'
import { heapLimits, limitTo } from '../around/lambda-size.ts'
import { startMeasured } from '../around/measured-process.ts'
import type { RowGroup } from '../row.ts'
import type { Stand } from '../stand.ts'
import { figureOf } from '../statistics.ts'
import { bundleOf, lambdaEnvironment } from '../subjects/bundles.ts'
import { chatEvent, httpEvent } from '../subjects/http-event.ts'
import { prepareTables } from '../subjects/prepare-tables.ts'
import { markdownTable, whole } from '../words.ts'

const SIZES_MB = [128, 160, 192, 256, 512]
const STREAMS = 150
const MB = 1024 * 1024
/** As long as a body may be, with what surrounds it. */
const LONG_PROMPT = 'word '.repeat((4 * MB - 1_000) / 5)

/** What a smaller function costs in time: the bundle within the memory and the share of a core that Lambda gives it. */
export const sizes: RowGroup = {
  name: 'sizes',
  async measure(stand) {
    const rows: string[][] = []
    for (const size of SIZES_MB) {
      stand.say(`sizes: ${size} MB`)
      rows.push([`${size} MB`, ...(await measureAt(size, stand))])
    }
    const heads = ['memory', 'load', 'a stream of 100 chunks', 'a prompt of 4 MiB', 'most memory', 'ended']
    return { rows: [], blocks: { sizes: markdownTable(heads, rows) } }
  },
}

async function measureAt(size: number, stand: Stand): Promise<string[]> {
  using limits = limitTo(size)
  if (!limits) return ['no control groups here', '', '', '', '']
  using chat = bundleOf('chat')
  const endpoint = await stand.dynamodb()
  const { secret } = await prepareTables(endpoint, await stand.upstreamUrl())
  const env = withPath(lambdaEnvironment(endpoint, size))
  const args = [...heapLimits(size), LAMBDA_HOST]
  try {
    await using host = startMeasured(stand.cores, args, { cwd: chat.folder, env })
    await host.message()
    // Node itself is in memory before the limits count.
    const { rssBytes: before } = await host.consumption()
    limits.add(host.child.pid ?? 0)
    const { ms: loadMs } = await host.ask<Reply>({ load: true })
    const times: number[] = []
    for (let i = 0; i < STREAMS; i++)
      times.push((await answered(host.ask<Reply>({ event: chatEvent(secret, 'hundred-chunks') }))).ms)
    const body = { model: 'hundred-chunks', stream: true, messages: [{ role: 'user', content: LONG_PROMPT }] }
    const long = await answered(host.ask<Reply>({ event: httpEvent('POST', '/v1/chat/completions', secret, body) }))
    const { median } = figureOf(times.slice(STREAMS / 3))
    const ms = (value: number) => `${whole(value)} ms`
    return [
      ms(loadMs),
      ms(median),
      ms(long.ms),
      `${whole((before + limits.peakBytes()) / MB)} MB`,
      limits.killed() ? 'killed' : 'no',
    ]
  } catch (error) {
    return ['', '', '', `${whole(limits.peakBytes() / MB)} MB`, limits.killed() ? 'killed' : String(error)]
  }
}

async function answered(reply: Promise<Reply>): Promise<Reply> {
  const { statusCode, ms } = await reply
  if (statusCode !== 200) throw new Error(`The bundle answered ${statusCode}.`)
  return { statusCode, ms }
}
