// Started in the folder of a bundle. Loads it when it is told to, as Lambda does when it starts a function, and then
// answers one event at a time. It tells how long each took.
const { Writable } = require('node:stream')

globalThis.awslambda = {
  streamifyResponse: (handler) => Object.assign(handler, { isStreaming: true }),
  HttpResponseStream: { from: (stream, { statusCode }) => Object.assign(stream, { statusCode }) },
}

let handler

process.on('message', async ({ load, event }) => {
  const startMs = performance.now()
  if (load) {
    handler = require(`${process.cwd()}/index.js`).handler
    process.send({ ms: performance.now() - startMs })
  } else if (event) {
    const statusCode = await answer(event)
    process.send({ ms: performance.now() - startMs, statusCode })
  }
})
process.send('ready')

async function answer(event) {
  const context = { getRemainingTimeInMillis: () => 900_000 }
  if (!handler.isStreaming) return (await handler(event, context)).statusCode
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  await handler(event, nowhere, context)
  return nowhere.statusCode
}
