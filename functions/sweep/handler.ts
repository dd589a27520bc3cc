import { openEventBus } from '../../layers/gateway/platform/aws/put-events.ts'
import { readOptional } from '../../layers/gateway/platform/config.ts'
import { openInstance } from '../instance.ts'
import { createSweep } from './create.ts'

const instance = openInstance()
const bus = readOptional('eventBus')
const put = bus === undefined ? undefined : openEventBus(bus)
const { stage } = instance.config

export const handler = createSweep(
  instance,
  put && ((notice) => put({ type: notice.type, detail: JSON.stringify({ ...notice, stage }) })),
)
