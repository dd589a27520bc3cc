import type { Settle } from '../flow/settle.ts'
import type { Gate } from '../middleware/gate.ts'
import type { OpenedRequest } from '../request.ts'
import type { SendDocument } from './daemon.ts'
import { parseTraceContext } from './trace-context.ts'
import { type Span, traceDocument } from './trace-document.ts'

type TracerDeps = {
  readonly send: SendDocument
  /** The trace of the invocation that is running now, as Lambda says it. */
  readonly readHeader: () => string | undefined
  readonly clock: () => number
  readonly random: (bytes: number) => Uint8Array
}

/** Put around what a request passes, where a stage traces; where it does not, there is none and nothing is around it. */
export type Tracer = {
  /** A gate whose time is told apart from that of the others. */
  watch<From extends OpenedRequest, To>(name: string, gate: Gate<From, To>): Gate<From, To>
  /** Settling, after which the request's trace is sent. */
  closing(settle: Settle): Settle
}

export function openTracer({ send, readHeader, clock, random }: TracerDeps): Tracer {
  const passed = new WeakMap<object, Span[]>()
  const newId = () => Buffer.from(random(8)).toString('hex')
  return {
    watch: (name, gate) => ({
      ...gate,
      pass: async (request, event) => {
        const fromMs = clock()
        try {
          return await gate.pass(request, event)
        } finally {
          const spans = passed.get(request) ?? []
          spans.push({ name, fromMs, toMs: clock() })
          passed.set(request, spans)
        }
      },
    }),
    closing: (settle) => (request, ending) => {
      const { settlement } = request
      if (settlement.settling) return settlement.settling
      // Read now: settling may outlast the invocation, and the next one has another trace.
      const context = parseTraceContext(readHeader())
      if (!context) return settle(request, ending)
      const settledFromMs = clock()
      const close = async () => {
        await settle(request, ending)
        const spans = passed.get(request) ?? []
        const told = { request, ending, passed: spans, settledFromMs, settledToMs: clock() }
        await send(traceDocument(context, told, newId))
      }
      const closing = close()
      settlement.settling = closing
      return closing
    },
  }
}
