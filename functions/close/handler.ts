import { openBucket } from '../../layers/gateway/aws/put-object.ts'
import { readExportBucket } from '../../layers/gateway/config.ts'
import { openInstance } from '../instance.ts'
import { createClose } from './create.ts'

const bucket = readExportBucket()

export const handler = createClose(openInstance(), { putObject: bucket ? openBucket(bucket) : undefined })
