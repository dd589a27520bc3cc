import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Server as NetServer } from 'node:net'
import type { Credentials } from '../../layers/gateway/platform/config.ts'
import type { Engine } from './engine.ts'
import { DynamoDbError } from './failures.ts'
import { signatureChecker } from './signature.ts'

const TARGET = 'DynamoDB_20120810.'
const MOST_BYTES = 17 * 1024 * 1024
const TOO_LONG = 'RequestTooLargeException'

type Answer = { readonly status: number; readonly text: string }

/** Answers leave together, after one commit of all writes: nobody hears of a write, or reads one, that could be lost. */
export function createDynamoDbServer(engine: Engine, credentials: Credentials | null): Server {
  const checkHead = credentials ? signatureChecker(credentials) : () => () => {}
  let waiting: (() => void)[] = []

  const server = createServer((request, response) => {
    answerTo(request).then((answer) => answerLater(response, answer))
  })
  server.keepAliveTimeout = 65_000
  return server

  async function answerTo(request: IncomingMessage): Promise<Answer> {
    try {
      const checkBody = checkHead(request)
      const body = await readBody(request)
      checkBody(body)
      const target = String(request.headers['x-amz-target'])
      const operation = target.startsWith(TARGET) ? target.slice(TARGET.length) : ''
      return { status: 200, text: JSON.stringify(engine.execute(operation, JSON.parse(body.toString()))) }
    } catch (error) {
      // The body of a stranger's request is thrown away.
      request.resume()
      return refusal(error)
    }
  }

  function answerLater(response: ServerResponse, { status, text }: Answer): void {
    if (waiting.length === 0) setImmediate(answerAll)
    const headers = { 'Content-Type': 'application/x-amz-json-1.0', 'Content-Length': Buffer.byteLength(text) }
    waiting.push(() => response.writeHead(status, headers).end(text))
  }

  function answerAll(): void {
    const answers = waiting
    waiting = []
    engine.commit()
    for (const answer of answers) answer()
  }
}

/** Nothing is kept beyond the limit. Throws for a longer one, and if the client leaves while it sends. */
async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request) {
    size += chunk.length
    if (size <= MOST_BYTES) chunks.push(chunk)
  }
  if (size <= MOST_BYTES) return Buffer.concat(chunks)
  throw new DynamoDbError(TOO_LONG, `A request has at most ${MOST_BYTES} bytes.`)
}

const MALFORMED =
  'The body is no JSON, or a member of it is of a type that the operation does not take, or nested too deep'
/** A command is checked as a whole before it changes anything, so any other error is a fault of the command. */
function refusal(error: unknown): Answer {
  // After a fault of the file, no command may be answered.
  if ((error as NodeJS.ErrnoException).code === 'ERR_SQLITE_ERROR') throw error
  const { name, message, detail } =
    error instanceof DynamoDbError ? error : new DynamoDbError('SerializationException', MALFORMED)
  const __type = `com.amazonaws.dynamodb.v20120810#${name}`
  const status = name === TOO_LONG ? 413 : 400
  return { status, text: JSON.stringify({ __type, message, Message: message, ...detail }) }
}

/** Serves this machine only. Returns the port, which is any that is free unless given. */
export async function listenHere(server: NetServer, port = 0): Promise<number> {
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}
