import { readAdminSettings, readConfig } from '../../layers/gateway/platform/config.ts'
import { jsonLog, printLine } from '../../layers/gateway/platform/log/log.ts'
import { openTables } from '../../layers/gateway/store/dynamodb/dynamodb-client.ts'
import { createAdmin } from './create.ts'
import { signedCaller } from './identify.ts'
import { stageKeys } from './stage-keys.ts'

const config = readConfig()
const { stage = '' } = config

export const handler = createAdmin({
  tables: openTables(config),
  stage,
  settings: readAdminSettings(),
  apiKeys: stageKeys(stage),
  identify: signedCaller,
  clock: Date.now,
  log: jsonLog(printLine, stage),
})
