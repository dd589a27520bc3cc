import { connect, isIP, type Socket, type TcpNetConnectOpts } from 'node:net'
import { connect as connectSecurely, createSecureContext, type SecureContext, type TLSSocket } from 'node:tls'
import { Exchange } from './exchange.ts'
import { HttpError } from './http-error.ts'

/** POSTs to one origin, over connections that are kept. */
export type HttpClient = ReturnType<typeof openHttpClient>

/** Names and values in turns. */
export type HeaderList = readonly string[]

const MOST_KEPT = 64
// Plain ASCII, so that the head and the body are one string; nothing in it ends a line.
const NAME = /^[\w!#$%&'*+.^`|~-]+$/
const VALUE = /^[\t\x20-\x7e]*$/
const PATH = /^\/[\x21-\x7e]*$/

export function openHttpClient({ protocol, hostname, port, host }: URL, connectMs: number) {
  const isSecure = protocol === 'https:'
  if (isSecure) trustedCertificates()
  const origin: Origin = {
    isSecure,
    host: hostname.replace(/^\[|\]$/g, ''),
    port: Number(port || (isSecure ? 443 : 80)),
    connectMs,
  }
  const kept: Connection[] = []
  const owner = {
    session: undefined as Buffer | undefined,
    onFree(connection: Connection) {
      if (kept.length < MOST_KEPT) kept.push(connection)
      else connection.destroy()
    },
    onGone(connection: Connection) {
      const at = kept.indexOf(connection)
      if (at !== -1) kept.splice(at, 1)
    },
  }
  return {
    /** `isAlone`: on a connection that was never used before. Throws an HttpError for a path or header that HTTP cannot carry. */
    post(path: string, headers: HeaderList, body: string, isAlone = false): Exchange {
      if (!PATH.test(path)) throw new HttpError('ERR_INVALID_CHAR', 'The path has a sign that HTTP cannot carry.')
      const lines = `POST ${path} HTTP/1.1\r\nHost: ${host}\r\n${linesOf(headers)}`
      const request = `${lines}Content-Length: ${Buffer.byteLength(body)}\r\nConnection: keep-alive\r\n\r\n${body}`
      const connection = (isAlone ? undefined : takeKept()) ?? new Connection(origin, owner)
      return connection.send(request)
    },
  }

  /** The connection that was used last is the least likely to have ended. */
  function takeKept(): Connection | undefined {
    for (let connection = kept.pop(); connection; connection = kept.pop()) {
      if (connection.isUsable) return connection
      connection.destroy()
    }
    return undefined
  }
}

function linesOf(headers: HeaderList): string {
  let lines = ''
  for (let i = 0; i < headers.length; i += 2) {
    const [name, value] = [headers[i] as string, headers[i + 1] as string]
    // The value may be a secret, and is not quoted.
    if (!NAME.test(name) || !VALUE.test(value)) {
      throw new HttpError('ERR_INVALID_CHAR', `The header ${JSON.stringify(name)} has a sign that HTTP cannot carry.`)
    }
    lines += `${name}: ${value}\r\n`
  }
  return lines
}

/** The server that connections go to, and how long one may take to open. */
type Origin = {
  readonly isSecure: boolean
  readonly host: string
  readonly port: number
  readonly connectMs: number
}

type Owner = {
  onFree(connection: Connection): void
  onGone(connection: Connection): void
  /** The TLS session, which makes the next secure connection quicker. */
  session: Buffer | undefined
}

/** The buffer into which all connections read, one after the other: the bytes are copied out at once. */
const ARRIVALS = Buffer.allocUnsafeSlow(64 * 1024)

// The longest idle time of a connection that is used again, by the wall clock: an instance that was frozen in between was
// told of no end, and a dead connection costs a whole timeout.
const MOST_IDLE_MS = 10_000

const KEEP_ALIVE = { noDelay: true, keepAlive: true, keepAliveInitialDelay: 30_000 }

let trusted: SecureContext | undefined

// The certificates that are trusted, for all connections. The first call takes 30 ms of a core, which a function has
// whole while it starts and a ninth of while it answers; each connection with a context of its own would take 0.6 more.
function trustedCertificates(): SecureContext {
  trusted ??= createSecureContext()
  return trusted
}

/** A connection that carries one exchange after the other. */
class Connection {
  isReused = false
  isOpen = false
  readonly #socket: Socket
  readonly #owner: Owner
  #exchange: Exchange | undefined
  #hasBeenUsed = false
  #keptUntilMs = Number.POSITIVE_INFINITY
  #idleSinceMs = 0

  constructor(origin: Origin, owner: Owner) {
    this.#owner = owner
    const options = {
      ...KEEP_ALIVE,
      host: origin.host,
      port: origin.port,
      onread: { buffer: ARRIVALS, callback: (bytes: number) => this.#receive(bytes) },
    }
    this.#socket = origin.isSecure ? openSecurely(options, owner) : connect(options)
    // A host that does not even accept the connection is given up sooner than one that takes long to answer.
    const timer = setTimeout(() => this.#socket.destroy(tooLate(origin)), origin.connectMs)
    this.#socket.once(origin.isSecure ? 'secureConnect' : 'connect', () => {
      clearTimeout(timer)
      this.isOpen = true
    })
    let failure: Error | undefined
    this.#socket.on('error', (error) => {
      failure = error
    })
    this.#socket.on('end', () => this.destroy())
    this.#socket.once('close', () => {
      clearTimeout(timer)
      owner.onGone(this)
      this.#exchange?.onClose(failure)
    })
  }

  /** True if another request may be sent, as far as is known here. */
  get isUsable(): boolean {
    const nowMs = Date.now()
    const idleMs = nowMs - this.#idleSinceMs
    return (
      !this.#socket.destroyed &&
      this.#socket.writable &&
      idleMs >= 0 &&
      idleMs < MOST_IDLE_MS &&
      nowMs < this.#keptUntilMs
    )
  }

  send(request: string): Exchange {
    this.isReused = this.#hasBeenUsed
    if (this.#hasBeenUsed) this.#socket.ref()
    this.#hasBeenUsed = true
    this.#exchange = new Exchange(this)
    this.#socket.write(request)
    return this.#exchange
  }

  pause(): void {
    this.#socket.pause()
  }

  resume(): void {
    this.#socket.resume()
  }

  destroy(): void {
    this.#socket.destroy()
  }

  release(keptMs: number): void {
    this.#exchange = undefined
    // A server that has answered before it got the whole request is not trusted with another one.
    if (keptMs === 0 || this.#socket.destroyed || this.#socket.writableLength > 0) {
      this.destroy()
      return
    }
    this.#idleSinceMs = Date.now()
    this.#keptUntilMs = this.#idleSinceMs + keptMs
    this.#socket.resume()
    this.#socket.unref()
    this.#owner.onFree(this)
  }

  /** Bytes between two exchanges were not asked for, and end the connection. */
  #receive(bytes: number): boolean {
    if (this.#exchange) this.#exchange.onBytes(Buffer.from(ARRIVALS.subarray(0, bytes)))
    else this.destroy()
    return true
  }
}

function openSecurely(options: TcpNetConnectOpts, owner: Owner): TLSSocket {
  const { host = '' } = options
  const socket = connectSecurely({
    ...options,
    secureContext: trustedCertificates(),
    ALPNProtocols: ['http/1.1'],
    ...(isIP(host) === 0 && { servername: host }),
    ...(owner.session && { session: owner.session }),
  })
  socket.on('session', (session) => {
    owner.session = session
  })
  // A session that a host cannot resume would fail every connection after this one.
  socket.once('close', () => {
    if (!socket.authorized) owner.session = undefined
  })
  return socket
}

function tooLate({ connectMs }: Origin): HttpError {
  return new HttpError('CONNECT_TIMEOUT', `No connection within ${connectMs} ms.`)
}
