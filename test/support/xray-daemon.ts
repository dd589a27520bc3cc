import { createSocket } from 'node:dgram'
import { until } from './wait.ts'

export type Subsegment = {
  readonly name: string
  readonly id: string
  readonly start_time: number
  readonly end_time: number
  readonly namespace?: string
  readonly error?: boolean
  readonly throttle?: boolean
  readonly fault?: boolean
  readonly annotations?: Readonly<Record<string, unknown>>
  readonly subsegments?: readonly Subsegment[]
}

export type TraceDocument = Subsegment & {
  readonly type: string
  readonly trace_id: string
  readonly parent_id: string
}

/** X-Ray's daemon as far as it takes documents. */
export type TestDaemon = AsyncDisposable & {
  readonly host: string
  readonly port: number
  /** Every datagram, as it came. */
  readonly datagrams: string[]
  /** The document of a request, once it is there. */
  documentOf(requestId: string | null | undefined): Promise<TraceDocument>
}

export async function startXrayDaemon(): Promise<TestDaemon> {
  const socket = createSocket('udp4')
  const datagrams: string[] = []
  socket.on('message', (message) => datagrams.push(String(message)))
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
  return {
    host: '127.0.0.1',
    port: socket.address().port,
    datagrams,
    async documentOf(requestId) {
      const find = () => datagrams.find((datagram) => datagram.includes(`"request_id":"${requestId}"`))
      await until(() => find() !== undefined)
      const [head = '', document = '', ...more] = (find() ?? '').split('\n')
      if (more.length > 0) throw new Error('A datagram has one head and one document.')
      const { format, version } = JSON.parse(head)
      if (format !== 'json' || version !== 1) throw new Error(`X-Ray knows no head ${head}.`)
      return JSON.parse(document)
    },
    async [Symbol.asyncDispose]() {
      await new Promise<void>((resolve) => socket.close(() => resolve()))
    },
  }
}
