import type { FunctionName } from '../layers/gateway/contract.ts'
import { makeRequestId } from '../layers/gateway/domain/ulid.ts'
import type { Endpoint } from '../layers/gateway/flow/passage.ts'
import { admit, refuse } from '../layers/gateway/middleware/admit.ts'
import { authorize } from '../layers/gateway/middleware/authorize.ts'
import { expect } from '../layers/gateway/middleware/expect.ts'
import type { Gate } from '../layers/gateway/middleware/gate.ts'
import { identify } from '../layers/gateway/middleware/identify.ts'
import { open } from '../layers/gateway/middleware/open.ts'
import { record } from '../layers/gateway/middleware/record.ts'
import { isUnavailable } from '../layers/gateway/store/failures.ts'
import { findKeyId } from '../layers/gateway/store/find-key-id.ts'
import { readKey } from '../layers/gateway/store/read-key.ts'
import { takeAdmission } from '../layers/gateway/store/take-admission.ts'
import type { Instance } from './instance.ts'

type Wanted = { readonly prefetch?: () => void; readonly assess?: Gate; readonly claim?: Gate }

/** The one way in, the same for every function; README.md draws it. */
export function gates(
  instance: Instance,
  name: FunctionName,
  endpoint: Endpoint,
  { prefetch, assess, claim }: Wanted = {},
) {
  const { tables, cache, config, settle, finishDeadHolds, clock, random, log, timing } = instance
  const read = readKey(tables)
  const newRequestId = (nowMs: number) => makeRequestId(nowMs, random(10))
  return [
    open(
      { clock, newRequestId, log, isUnavailable, headerPrefix: config.headerPrefix, originSecret: config.originSecret },
      endpoint,
    ),
    record(settle, timing.settleMs),
    expect(name),
    identify({ findKeyId: findKeyId(tables), readKey: read, cache, keyPrefix: config.keyPrefix, prefetch }),
    authorize({ readKey: read, cache }),
    ...(assess ? [assess] : []),
    admit({ takeAdmission: takeAdmission(tables), finishDeadHolds, readKey: read, newRequestId, cache }),
    ...(claim ? [claim] : []),
    refuse(),
  ]
}
