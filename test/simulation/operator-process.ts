import type { OperatorTables } from '../../layers/gateway/store/operator-tables.ts'
import { sdkDatabase } from '../../layers/gateway/store/sdk-database.ts'
import type { AdminAnswer, AdminRequest } from '../../operator/admin-api/call.ts'
import { adminApi } from '../../operator/admin-api/handle.ts'
import { modelClient } from './dynamodb/model-client.ts'
import { type ProcessDeps, SimulatedProcess, TABLE_NAMES } from './process.ts'

type Database = OperatorTables['database']

/** The admin API in a process that can crash. Whoever asks it lives on. */
export class OperatorProcess extends SimulatedProcess {
  readonly #answerTo: (request: AdminRequest) => Promise<AdminAnswer>
  readonly #end = Promise.withResolvers<undefined>()

  constructor(deps: ProcessDeps) {
    super('operator', deps)
    const administered = {
      tables: { ...this.tables, database: this.#readingUsageAtOnce(this.tables.database) },
      stage: 'simulated',
      isProtected: false,
      chatUrl: 'https://gateway.example',
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

  /** What a key has spent is only shown with an answer: nothing that can go wrong with a change waits for it. */
  #readingUsageAtOnce(database: Database): Database {
    const client = modelClient(async (command) => this.deps.carryOut(command as never))
    const atOnce = sdkDatabase(client, client)
    const of = ({ TableName }: { readonly TableName: string }) => (TableName === TABLE_NAMES.usage ? atOnce : database)
    return { ...database, get: (input) => of(input).get(input), query: (input) => of(input).query(input) }
  }
}
