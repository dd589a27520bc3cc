import type { Reply } from '../../support/upstream.ts'

/** One reply for each request, in this order; the last one from then on. */
export function inTurn(...replies: readonly [Reply, ...Reply[]]): Reply {
  let turn = 0
  return (response, request) => {
    const reply = replies[Math.min(turn, replies.length - 1)] ?? replies[0]
    turn += 1
    return reply(response, request)
  }
}
