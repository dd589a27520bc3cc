import { readProbeSettings } from '../../layers/gateway/platform/config.ts'
import { secretFetcher } from '../../layers/gateway/providers/api-keys/fetch-secret.ts'
import { createProbe } from './create.ts'

export const handler = createProbe(readProbeSettings(), secretFetcher())
