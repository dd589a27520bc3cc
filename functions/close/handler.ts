import { openBucket } from '../../layers/gateway/platform/aws/put-object.ts'
import { openTrail } from '../../layers/gateway/platform/aws/trail-fault.ts'
import { readOptional } from '../../layers/gateway/platform/config.ts'
import { setRowExpiry } from '../../layers/gateway/store/rows/closing.ts'
import { openInstance } from '../instance.ts'
import { createClose } from './create.ts'

const bucket = readOptional('exportBucket')
const trail = readOptional('keysTrail')
const instance = openInstance()

export const handler = createClose(instance, {
  putObject: bucket ? openBucket(bucket) : undefined,
  setRowExpiry: setRowExpiry(instance.tables),
  seller: readOptional('seller'),
  currency: readOptional('currency'),
  collector: { url: readOptional('otlpUrl') },
  ...(trail && { trailFault: openTrail(trail) }),
})
