import { makeRequestId } from '../layers/gateway/domain/basics/time.ts'
import { type Key, planOf } from '../layers/gateway/domain/keys/key.ts'
import { type EndpointName, endpointNamed, type FunctionName } from '../layers/gateway/endpoints.ts'
import type { AdmitDeps } from '../layers/gateway/flow/admission/admit.ts'
import { SETTLE_MARGIN_MS } from '../layers/gateway/flow/billing/settle.ts'
import type { OpenedRequest } from '../layers/gateway/flow/request.ts'
import { prefetching } from '../layers/gateway/flow/routing/catalog-cache.ts'
import { compress } from '../layers/gateway/middleware/compress.ts'
import type { Gate, GatewayContext, Middleware } from '../layers/gateway/middleware/gate.ts'
import { authorize, identify } from '../layers/gateway/middleware/identify.ts'
import { matchEndpoint } from '../layers/gateway/middleware/match-endpoint.ts'
import { open, record } from '../layers/gateway/middleware/open.ts'
import { requireEdge } from '../layers/gateway/middleware/require-edge.ts'
import { answerBrowsers } from '../layers/gateway/middleware/without-key.ts'
import { isUnavailable } from '../layers/gateway/platform/aws/service-error.ts'
import { takeAdmission } from '../layers/gateway/store/admission/take-admission.ts'
import { wasRejected } from '../layers/gateway/store/dynamodb/conditional-writes.ts'
import { findKeyId, readKey } from '../layers/gateway/store/keys/read-key.ts'
import type { Instance } from './instance.ts'
import type { Remedies } from './on-demand.ts'

/** The endpoint in the rows of calls that reach a function but none of its endpoints. */
const NOWHERE = { chat: 'chat.completions', api: 'unknown' } as const satisfies Record<FunctionName, EndpointName>

const FAULTS = { isUnavailable, wasRejected }

export function gates(instance: Instance, name: FunctionName, page?: Middleware): Middleware[] {
  const { tables, cache, config, settle, clock, log, timing, loadCatalog } = instance
  const { headerPrefix, originSecrets = [], keyPrefix, mostAtOnce } = config
  const read = readKey(tables, mostAtOnce)
  const newRequestId = requestIds(instance)
  // Only chat streams, and can go on settling after its answer. The api ends with its answer, which must not wait longer.
  const mostMs = name === 'chat' ? Infinity : timing.settleMs + SETTLE_MARGIN_MS
  const prefetch = prefetching(loadCatalog)
  const remedies = remediesOf(instance)
  const pickLane = async (first: Key) => (await remedies()).pickLane(first)
  return [
    ...(name === 'chat' && config.isCompressed ? [compress()] : []),
    open({ clock, newRequestId, mostMs, log, headerPrefix, ...FAULTS }, endpointNamed(NOWHERE[name])),
    record({ settle, timing, ...FAULTS }),
    gate(requireEdge(originSecrets)),
    answerBrowsers(headerPrefix),
    ...(page ? [page] : []),
    gate(matchEndpoint(name)),
    gate(identify({ findKeyId: findKeyId(tables), readKey: read, pickLane, cache, keyPrefix, prefetch })),
    gate(authorize({ readKey: read, cache })),
  ]
}

function gate<Request extends OpenedRequest>(pass: Gate<Request>): Middleware {
  return { before: ({ event, context }) => pass(context.request as unknown as Request, event) }
}

/** An endpoint that describes its key needs the whole item; the others need only the attributes that admission changes. */
export function admissionBy(instance: Instance, returned?: 'UPDATED_NEW'): AdmitDeps {
  const { tables, cache, config, loadCatalog } = instance
  const remedies = remediesOf(instance)
  return {
    takeAdmission: takeAdmission(tables, returned, config.mostAtOnce),
    newRequestId: requestIds(instance),
    answerRefusal: async (...refused) => (await remedies()).answerRefusal(...refused),
    wholeKey: async (...lane) => (await remedies()).wholeKey(...lane),
    cache,
    catalogFor: async (key, known) => {
      const loaded = known ?? (await loadCatalog())
      const [plan, base] = [planOf(key), loaded.base ?? loaded]
      return plan === undefined ? base : (await import('#on-demand')).plannedCatalog(instance, base, plan)
    },
  }
}

/** Loaded with the first refusal, or the first key with lanes. */
function remediesOf(instance: Instance): () => Promise<Remedies> {
  let remedies: Promise<Remedies> | undefined
  return () => {
    remedies ??= import('#on-demand').then(({ remediesFrom }) => remediesFrom(instance))
    return remedies
  }
}

function requestIds({ random }: Instance): (nowMs: number) => string {
  return (nowMs) => makeRequestId(nowMs, random(10))
}

/** An invocation ends when its own and the dead requests that it met are settled: a frozen instance would be late. */
export function requestEnd({ finishDeadHolds }: Instance) {
  return async ({ context }: { readonly context: unknown }): Promise<void> => {
    const { settlement, credential, deadHolds, deadlineMs } = (context as GatewayContext).request
    await (settlement.streaming ?? settlement.settling)
    if (credential && deadHolds?.length) await finishDeadHolds(credential.key, deadHolds, deadlineMs)
  }
}
