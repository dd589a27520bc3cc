import type { AdminAnswer, AdminRequest } from '../../layers/admin/api/call.ts'
import { adminApi } from '../../layers/admin/api/handle.ts'
import type { Tables } from '../../layers/gateway/store/dynamodb/database.ts'
import { type ProcessDeps, SimulatedProcess, TABLE_NAMES } from './process.ts'

type Database = Tables['database']

/** The admin API in a process that can crash. Its callers live on. */
export class OperatorProcess extends SimulatedProcess {
  readonly #answerTo: (request: AdminRequest) => Promise<AdminAnswer>
  readonly #end = Promise.withResolvers<undefined>()

  constructor(deps: ProcessDeps) {
    super('operator', deps)
    const administered = {
      tables: { ...this.tables, database: withoutUsage(this.tables.database) },
      stage: 'simulated',
      isProtected: false,
      chatUrl: 'https://gateway.example',
      apiKeys: { env: () => undefined, secret: async () => undefined },
      takesKeys: true,
      tellsNotices: true,
      clock: deps.nowMs,
      random: (bytes: number) => deps.random.bytes(bytes),
    }
    // The answer says that it failed, and is looked at in the end.
    this.#answerTo = adminApi(administered, () => {})
  }

  /** Undefined if the process crashes before it has answered. */
  ask(request: AdminRequest): Promise<AdminAnswer | undefined> {
    return Promise.race([this.#answerTo(request), this.#end.promise])
  }

  crash(): void {
    this.alive = false
    this.#end.resolve(undefined)
  }
}

/** A key's spending is only shown with the answer to a change, which must not fail for it. */
function withoutUsage(database: Database): Database {
  const get: Database['get'] = async (input) => {
    if (input.TableName !== TABLE_NAMES.usage) return database.get(input)
    throw Object.assign(new Error('The usage table is away.'), { name: 'TimeoutError' })
  }
  return { ...database, get }
}
