import type { Reply } from '../../support/upstream.ts'

/** Sends the first frames at once; when it is told to, the rest, or breaks the connection. */
export function heldBack(first: readonly string[], rest: readonly string[] | 'broken') {
  const asked = Promise.withResolvers<void>()
  const told = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<'finished' | 'left'>()
  const reply: Reply = async (response) => {
    response.once('close', () => ended.resolve(response.writableFinished ? 'finished' : 'left'))
    response.writeHead(200, { 'Content-Type': 'text/event-stream' })
    response.flushHeaders()
    for (const frame of first) response.write(frame)
    asked.resolve()
    await told.promise
    if (rest === 'broken') response.destroy()
    else response.end(rest.join(''))
  }
  return { asked: asked.promise, answer: () => told.resolve(), ended: ended.promise, reply }
}
