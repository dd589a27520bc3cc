import { readAdminSettings, readConfig } from '../../layers/gateway/config.ts'
import { jsonLog } from '../../layers/gateway/log/log.ts'
import { printLine } from '../../layers/gateway/log/print-line.ts'
import { openOperatorTables } from '../../layers/gateway/store/operator-tables.ts'
import { createAdmin } from './create.ts'

const config = readConfig()

export const handler = createAdmin({
  tables: openOperatorTables(config),
  stage: config.stage ?? '',
  settings: readAdminSettings(),
  clock: Date.now,
  log: jsonLog(printLine, config.stage),
})
