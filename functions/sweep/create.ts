import { expiredHolds } from '../../layers/gateway/domain/key.ts'
import { listKeys } from '../../layers/gateway/store/list-keys.ts'
import type { Instance } from '../instance.ts'

/** Finishes the requests that died, key by key. */
export function createSweep({ tables, clock, finishHold, log }: Instance) {
  return async (): Promise<{ finished: number }> => {
    let finished = 0
    for await (const key of listKeys(tables)()) {
      for (const requestId of expiredHolds(key, clock())) {
        try {
          await finishHold(key.id, requestId)
          finished += 1
        } catch (error) {
          log.problem('a dead request could not be finished; the next sweep will', error, requestId)
        }
      }
    }
    log.swept(finished)
    return { finished }
  }
}
