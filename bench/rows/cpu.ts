import { comparedRow } from '../figures.ts'
import { type Chat, cpuOf, RARELY, type Subject, send, type Turn } from '../load.ts'
import type { Stand } from '../stand.ts'
import type { Model } from '../upstream.ts'

/** Short ones: a neighbour on the machine disturbs some of them, and the median is not one of those. */
export const ROUNDS = 9
/** The number of requests after which V8 has compiled what it will, by its own trace. */
const ENOUGH = 3_500
/** V8 sees other paths in slow streams. */
const ENOUGH_SLOW = 112

const WHOLE = { model: 'hundred-chunks', stream: false } as const
const JSON_TURN: Turn = { ms: 150, beginningMs: 50 }
/** Many short ones: within one the machine is equally fast for all subjects, and seldom in two that are seconds apart. */
const JSON_ROUNDS = 21

export async function json(stand: Stand) {
  const found = await inTurns(stand, 'json', { rounds: JSON_ROUNDS, warmUp: [[WHOLE, ENOUGH]] }, async (subject) => ({
    many: await cpuOf(subject, WHOLE, JSON_TURN),
    few: await cpuOf(subject, WHOLE, { ...JSON_TURN, manner: RARELY }),
  }))
  const fewWords = 'the same, one request at a time with a pause of 5 ms, of the bare proxy as of Waybill'
  return { rows: [found.row('CPU a JSON request, with its three writes', 'many'), found.row(fewWords, 'few')] }
}

const STREAM_TURN: Turn = { ms: 500, beginningMs: 100 }
const MORE_CHUNKS = 99

/** The cost of a stream, and of one of its chunks: a stream of a hundred, less a stream of one. */
export async function chunk(stand: Stand) {
  const streamOf = (model: Model): Chat => ({ model, stream: true })
  const warmUp = [
    [streamOf('hundred-chunks'), ENOUGH],
    [streamOf('hundred-slow-chunks'), ENOUGH_SLOW],
  ] as const
  const found = await inTurns(stand, 'chunk', { rounds: ROUNDS, warmUp }, async (subject) => {
    const one = await cpuOf(subject, streamOf('one-chunk'), STREAM_TURN)
    const stream = await cpuOf(subject, streamOf('hundred-chunks'), STREAM_TURN)
    const slow = await cpuOf(subject, streamOf('hundred-slow-chunks'), STREAM_TURN)
    return { stream, chunk: (stream - one) / MORE_CHUNKS, slowChunk: (slow - one) / MORE_CHUNKS }
  })
  return {
    rows: [
      found.row('CPU a stream of 100 chunks, all at once, with its three writes', 'stream'),
      found.row('CPU a chunk, all at once', 'chunk'),
      found.row('CPU a chunk, one every 5 ms', 'slowChunk'),
    ],
  }
}

/** Subjects take turns, so that the machine's other work falls on all of them alike. */
async function inTurns<Figure extends string>(
  stand: Stand,
  group: string,
  { rounds, warmUp }: { readonly rounds: number; readonly warmUp: readonly (readonly [Chat, number])[] },
  measure: (subject: Subject) => Promise<Record<Figure, number>>,
) {
  const subjects = await stand.subjects()
  stand.say(`${group}: warming up`)
  for (const { target } of Object.values(subjects)) {
    for (const [chat, count] of warmUp) await send(target, chat, (sent) => sent < count)
  }
  const found = { bareProxy: [] as Record<Figure, number>[], waybill: [] as Record<Figure, number>[] }
  for (let round = 1; round <= rounds; round++) {
    stand.say(`${group}: round ${round} of ${rounds}`)
    for (const name of ['bareProxy', 'waybill'] as const) found[name].push(await measure(subjects[name]))
  }
  const of = (name: keyof typeof found, figure: Figure) => found[name].map((round) => round[figure])
  return { row: (what: string, figure: Figure) => comparedRow(what, of('waybill', figure), of('bareProxy', figure)) }
}
