import { openService } from './service.ts'

/** An event as its rules see it: `detail` is JSON. */
export type BusEvent = { readonly type: string; readonly detail: string }

const SOURCE = 'waybill'
/** The most in one call. */
const MOST_EVENTS = 10

/** Puts events on a bus of EventBridge. Throws unless it has taken all of them. */
export function openEventBus(name: string) {
  const call = openService({
    name: 'events',
    variable: 'EVENTBRIDGE',
    target: 'AWSEvents',
    contentType: 'application/x-amz-json-1.1',
    timeouts: { connectMs: 1_000, answerMs: 5_000 },
  })
  return async (events: readonly BusEvent[]): Promise<void> => {
    for (let at = 0; at < events.length; at += MOST_EVENTS) {
      const Entries = events
        .slice(at, at + MOST_EVENTS)
        .map(({ type, detail }) => ({ EventBusName: name, Source: SOURCE, DetailType: type, Detail: detail }))
      const { FailedEntryCount: failed = 0 } = await call('PutEvents', JSON.stringify({ Entries }), { attempts: 3 })
      if (failed !== 0) throw new Error(`EventBridge did not take ${failed} of ${Entries.length} events.`)
    }
  }
}
