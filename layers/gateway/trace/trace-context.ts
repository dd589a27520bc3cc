/** The trace that an invocation belongs to, and the segment of it that is the function's. */
export type TraceContext = { readonly traceId: string; readonly parentId: string }

const ROOT = /(?:^|;) *Root=(1-[0-9a-f]{8}-[0-9a-f]{24})(?:;|$)/
const PARENT = /(?:^|;) *Parent=([0-9a-f]{16})(?:;|$)/
const SAMPLED = /(?:^|;) *Sampled=1(?:;|$)/

/** Of `Root=…;Parent=…;Sampled=1`, as Lambda has it for each invocation. None if AWS keeps no trace of this one. */
export function parseTraceContext(header: string | undefined): TraceContext | undefined {
  if (!header || !SAMPLED.test(header)) return undefined
  const traceId = ROOT.exec(header)?.[1]
  const parentId = PARENT.exec(header)?.[1]
  return traceId && parentId ? { traceId, parentId } : undefined
}
