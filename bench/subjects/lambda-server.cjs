// Started in the folder of the chat bundle: gives it each HTTP request as a Function URL would. It tells its port, and when
// it is asked the processor time that it has had. Plain JavaScript, with as little as possible around the function.
const { createServer } = require('node:http')

globalThis.awslambda = {
  streamifyResponse: (handler) => handler,
  HttpResponseStream: { from: (response, { statusCode, headers }) => response.writeHead(statusCode, headers) },
}
const { handler } = require(`${process.cwd()}/index.js`)
// Each invocation has its own, as in Lambda: Middy's context carries the request.
const newContext = () => ({ getRemainingTimeInMillis: () => 900_000 })

const server = createServer((request, response) => {
  let body = ''
  request.setEncoding('utf8')
  request.on('data', (piece) => {
    body += piece
  })
  request.once('end', () => handler(eventOf(request, body), response, newContext()))
})
server.listen(0, '127.0.0.1', () => process.send(server.address().port))
process.on('message', () => process.send(process.cpuUsage()))
process.on('disconnect', () => process.exit())

function eventOf({ method, url: path, headers }, body) {
  const http = { method, path, protocol: 'HTTP/1.1', sourceIp: '203.0.113.7', userAgent: 'bench/1.0' }
  const requestContext = { domainName: 'bench.lambda-url.example', http, requestId: 'bench', stage: '$default' }
  return { version: '2.0', rawPath: path, rawQueryString: '', headers, requestContext, body, isBase64Encoded: false }
}
