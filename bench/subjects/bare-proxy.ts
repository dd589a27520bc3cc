import { Agent, createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'

// The least that a gateway in Node can do: it passes bytes on unseen, and tells its port and, if asked, its CPU time.

const upstream = new URL(process.argv[2] ?? '')
const agent = new Agent({ keepAlive: true })

const server = createServer((incoming, outgoing) => {
  const { hostname, port } = upstream
  const headers = { ...incoming.headers, host: upstream.host }
  const asked = request({ agent, hostname, port, path: incoming.url, method: incoming.method, headers })
  asked.once('response', (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
    answer.pipe(outgoing)
  })
  asked.once('error', () => outgoing.destroy())
  incoming.pipe(asked)
})
server.keepAliveTimeout = 65_000
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
process.on('message', () => process.send?.(process.cpuUsage()))
process.on('disconnect', () => process.exit())
