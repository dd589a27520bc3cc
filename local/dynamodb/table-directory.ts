import { DynamoDbError, noSuchTable, tableInUse, unsupported, validationError } from './failures.ts'
import type { Journal } from './journal.ts'
import { StoredTable, type TableSchema } from './stored-table.ts'
import { describeTable, schemaOf } from './table-description.ts'

type Input = Readonly<Record<string, unknown>>
type Output = Readonly<Record<string, unknown>>

export class TableDirectory {
  private readonly tables = new Map<string, StoredTable>()
  private readonly journal: Pick<Journal, 'table'>

  constructor(journal: Pick<Journal, 'table'>) {
    this.journal = journal
  }

  get(name: unknown): StoredTable {
    const table = this.tables.get(String(name))
    if (!table) throw noSuchTable()
    return table
  }

  all(): Iterable<StoredTable> {
    return this.tables.values()
  }

  add(name: string, schema: TableSchema): StoredTable {
    const table = new StoredTable(name, schema)
    this.tables.set(name, table)
    return table
  }

  execute(operation: string, input: Input): Output {
    const name = String(input.TableName)
    switch (operation) {
      case 'CreateTable':
        return { TableDescription: this.create(name, schemaOf(input)) }
      case 'DescribeTable':
        return { Table: describeTable(this.get(name)) }
      case 'ListTables':
        return { TableNames: [...this.tables.keys()].sort() }
      case 'DeleteTable':
        return { TableDescription: this.delete(name) }
      case 'DescribeTimeToLive':
        return { TimeToLiveDescription: describeTimeToLive(this.get(name).definition) }
      case 'UpdateTimeToLive':
        return this.setTimeToLive(this.get(name), input)
    }
    // No fault of the caller, who asks it of a table in AWS.
    if (operation === 'DescribeContinuousBackups')
      throw new DynamoDbError('UnknownOperationException', 'no backups here')
    if (/^[A-Z]\w{1,60}$/.test(operation)) throw unsupported(operation)
    throw new DynamoDbError('UnknownOperationException', 'X-Amz-Target names no operation')
  }

  private create(name: string, schema: TableSchema): Output {
    if (this.tables.has(name)) throw tableInUse(name)
    this.journal.table(name, schema)
    return describeTable(this.add(name, schema))
  }

  private delete(name: string): Output {
    const table = this.get(name)
    this.tables.delete(name)
    this.journal.table(name, undefined)
    return describeTable(table)
  }

  private setTimeToLive(table: StoredTable, input: Input): Output {
    const { AttributeName, Enabled } = (input.TimeToLiveSpecification ?? {}) as Record<string, unknown>
    if (typeof AttributeName !== 'string' || typeof Enabled !== 'boolean') {
      throw validationError('TimeToLiveSpecification takes AttributeName and Enabled')
    }
    table.definition = { ...table.definition, timeToLive: Enabled ? AttributeName : undefined }
    this.journal.table(table.name, table.definition)
    return { TimeToLiveSpecification: { AttributeName, Enabled } }
  }
}

function describeTimeToLive({ timeToLive }: TableSchema): Output {
  if (timeToLive === undefined) return { TimeToLiveStatus: 'DISABLED' }
  return { TimeToLiveStatus: 'ENABLED', AttributeName: timeToLive }
}
