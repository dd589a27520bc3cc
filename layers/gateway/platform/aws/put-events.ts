import { EVENT_SOURCE } from '../../names.ts'
import { openService } from './service.ts'

/** Puts an event on a bus of EventBridge; its `detail` is JSON. Throws unless it was taken. */
export function openEventBus(name: string) {
  const call = openService({ name: 'events', variable: 'EVENTBRIDGE', target: 'AWSEvents' })
  return async ({ type, detail }: { readonly type: string; readonly detail: string }): Promise<void> => {
    const Entries = [{ EventBusName: name, Source: EVENT_SOURCE, DetailType: type, Detail: detail }]
    const { FailedEntryCount, Entries: taken } = await call('PutEvents', JSON.stringify({ Entries }), { attempts: 3 })
    if (FailedEntryCount === 0) return
    const [{ ErrorCode = 'no reason' } = {}] = (taken ?? []) as { ErrorCode?: string }[]
    throw new Error(`EventBridge did not take the event: ${ErrorCode}.`)
  }
}
