import { pipeline, Readable } from 'node:stream'
import type { GatewayEvent } from '../flow/request.ts'
import type { Middleware } from './gate.ts'

type Zlib = typeof import('node:zlib')

/** A longer window or more memory makes a stream no shorter: its frames are alike. */
const SETTINGS = { windowBits: 12, memLevel: 5 }
/** A shorter answer is not worth it. */
const LEAST_CHARS = 1_024

/** Loading it takes some milliseconds, which no first token waits for. */
let zlib: Zlib | undefined
function loadZlib(): Zlib {
  zlib ??= process.getBuiltinModule('node:zlib')
  return zlib
}

/** Compresses answers for clients that accept gzip. A stream is flushed with every frame, so that no token waits. */
export function compress(): Middleware {
  return {
    before: ({ event }) => {
      // While the request waits for the database.
      if (!zlib && acceptsGzip(event)) setImmediate(loadZlib)
    },
    after: ({ event, response }) => {
      if (!response || !acceptsGzip(event)) return
      const { body } = response
      if (typeof body === 'string' && body.length < LEAST_CHARS) return
      response.body =
        typeof body === 'string' ? Readable.from([loadZlib().gzipSync(body, SETTINGS)]) : compressing(body)
      response.headers['Content-Encoding'] = 'gzip'
      response.headers.Vary = 'Accept-Encoding'
    },
  }
}

/** A client that leaves ends both streams. */
function compressing(body: Readable): Readable {
  const { createGzip, constants } = loadZlib()
  return pipeline(body, createGzip({ ...SETTINGS, flush: constants.Z_SYNC_FLUSH }), () => {})
}

/** Gzip is accepted by its name or by `*`, and not with a quality of 0. */
const GZIP = /(?:^|,)\s*(?:gzip|\*)\s*(?:;\s*q\s*=\s*(?<quality>[\d.]{1,5})\s*)?(?=,|$)/i

function acceptsGzip(event: GatewayEvent): boolean {
  const found = GZIP.exec(event.headers['accept-encoding'] ?? '')
  return found !== null && Number(found.groups?.quality ?? 1) > 0
}
