import { openEventBus } from '../../layers/gateway/platform/aws/put-events.ts'
import { readEventBus } from '../../layers/gateway/platform/config.ts'
import { openInstance } from '../instance.ts'
import { createSweep } from './create.ts'
import type { Tell } from './tell-notices.ts'

const instance = openInstance()

export const handler = createSweep(instance, tellBus(readEventBus()))

function tellBus(name: string | undefined): Tell | undefined {
  if (name === undefined) return undefined
  const put = openEventBus(name)
  const { stage } = instance.config
  return (notice) => put({ type: notice.type, detail: JSON.stringify({ ...notice, stage }) })
}
