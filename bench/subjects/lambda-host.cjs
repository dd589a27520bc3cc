// Started in the folder of a bundle: loads it, as Lambda does when it starts a function, has it answer one event, and
// tells how long each took.
const { Writable } = require('node:stream')

globalThis.awslambda = {
  streamifyResponse: (handler) => Object.assign(handler, { isStreaming: true }),
  HttpResponseStream: { from: (stream, { statusCode }) => Object.assign(stream, { statusCode }) },
}

const startMs = performance.now()
const { handler } = require(`${process.cwd()}/index.js`)
const loadedMs = performance.now()
answer(JSON.parse(process.argv[2])).then((statusCode) => {
  const wholeMs = performance.now()
  const times = { loadMs: loadedMs - startMs, firstMs: wholeMs - loadedMs, wholeMs, statusCode }
  // Its kept connections would keep the process waiting.
  process.stdout.write(`\n${JSON.stringify(times)}\n`, () => process.exit())
})

async function answer(event) {
  const context = { getRemainingTimeInMillis: () => 900_000 }
  if (!handler.isStreaming) return (await handler(event, context)).statusCode
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  await handler(event, nowhere, context)
  return nowhere.statusCode
}
