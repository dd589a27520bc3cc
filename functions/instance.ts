import { randomBytes } from 'node:crypto'
import { DAILY_LOSS } from '../layers/gateway/domain/admission/counters.ts'
import { KeyCache } from '../layers/gateway/flow/admission/credential.ts'
import { CHAT_TIMING, type ChatTiming } from '../layers/gateway/flow/answering/chat-deps.ts'
import { deadHoldsFinisher, holdFinisher } from '../layers/gateway/flow/billing/finish-hold.ts'
import { settler } from '../layers/gateway/flow/billing/settle.ts'
import { cachedCatalog } from '../layers/gateway/flow/routing/catalog-cache.ts'
import { isUnavailable } from '../layers/gateway/platform/aws/service-error.ts'
import { type Config, readConfig } from '../layers/gateway/platform/config.ts'
import { jsonLog, type Log, printLine } from '../layers/gateway/platform/log/log.ts'
import { releaseHold } from '../layers/gateway/store/admission/release-hold.ts'
import { type ReadNewCatalog, readNewCatalog } from '../layers/gateway/store/catalog/read-catalog.ts'
import { wasRejected } from '../layers/gateway/store/dynamodb/conditional-writes.ts'
import type { Tables } from '../layers/gateway/store/dynamodb/database.ts'
import { openTables } from '../layers/gateway/store/dynamodb/dynamodb-client.ts'
import { putUsageRow } from '../layers/gateway/store/rows/usage-rows.ts'

/** One running function: its settings, its tables and its memory between requests. */
export type Instance = ReturnType<typeof openInstance>

export type InstanceOptions = {
  readonly config?: Config
  readonly tables?: Tables
  readonly clock?: () => number
  readonly random?: (bytes: number) => Uint8Array
  readonly log?: Log
  readonly timing?: Partial<ChatTiming>
  readonly readCatalog?: ReadNewCatalog
}

/** Random bytes, made in large numbers: a system call takes longer than the bytes. */
function pooledBytes(): (count: number) => Uint8Array {
  let pool = randomBytes(0)
  return (count) => {
    if (pool.length < count) pool = randomBytes(4_096)
    const bytes = pool.subarray(0, count)
    pool = pool.subarray(count)
    return bytes
  }
}

export function openInstance(options: InstanceOptions = {}) {
  const config = options.config ?? readConfig()
  const tables = options.tables ?? openTables(config)
  const clock = options.clock ?? Date.now
  const log = options.log ?? jsonLog(printLine, config.stage, clock, config.version)
  const books = { putUsageRow: putUsageRow(tables, config.keepRowsDays), releaseHold: releaseHold(tables) }
  const finishHold = holdFinisher(books)
  const { dailyLoss = DAILY_LOSS } = config
  return {
    config,
    /** The loss that a key may cause on a UTC day, if it has no bound of its own. */
    dailyLoss,
    tables,
    clock,
    random: options.random ?? pooledBytes(),
    log,
    timing: {
      ...CHAT_TIMING,
      ...(config.wholeAnswerMs !== undefined && { wholeAnswerMs: config.wholeAnswerMs }),
      ...options.timing,
    },
    cache: new KeyCache(),
    loadCatalog: cachedCatalog(options.readCatalog ?? readNewCatalog(tables), clock),
    finishHold,
    finishDeadHolds: deadHoldsFinisher(finishHold, clock, log),
    settle: settler({
      ...books,
      dailyLoss,
      isUnavailable,
      wasRejected,
      clock,
      log,
      isUnattributed: config.isUnattributed,
    }),
  }
}
