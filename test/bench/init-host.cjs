// Started in the folder of a bundle: loads it, answers one event, and tells how long each took.
const { Writable } = require('node:stream')

globalThis.awslambda = {
  streamifyResponse: (handler) => Object.assign(handler, { isStreaming: true }),
  HttpResponseStream: { from: (stream, { statusCode }) => Object.assign(stream, { statusCode }) },
}

process.once('message', async (event) => {
  const startMs = performance.now()
  const { handler } = require(`${process.cwd()}/index.js`)
  const loadedMs = performance.now()
  const statusCode = await answer(handler, event)
  const answeredMs = performance.now()
  process.send({ loadMs: loadedMs - startMs, firstMs: answeredMs - loadedMs, statusCode }, () => process.exit())
})
process.send('ready')

async function answer(handler, event) {
  const context = { getRemainingTimeInMillis: () => 900_000 }
  if (!handler.isStreaming) return (await handler(event, context)).statusCode
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  await handler(event, nowhere, context)
  return nowhere.statusCode
}
