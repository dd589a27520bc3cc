// The least that a function can do in place of the gateway: it passes bytes on, and looks at none of them.
const { Agent, request } = require('node:https')

const agent = new Agent({ keepAlive: true })

exports.handler = globalThis.awslambda.streamifyResponse(
  ({ body }, stream) =>
    new Promise((resolve, reject) => {
      const headers = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) }
      const sent = request(`${process.env.UPSTREAM_URL}/chat/completions`, { agent, method: 'POST', headers })
      sent.once('error', reject)
      sent.once('response', (answer) => {
        const head = { statusCode: answer.statusCode, headers: { 'Content-Type': answer.headers['content-type'] } }
        answer.pipe(globalThis.awslambda.HttpResponseStream.from(stream, head)).once('finish', resolve)
      })
      sent.end(body)
    }),
)
