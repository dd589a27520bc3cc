import { TABLES, type TableDefinition } from '../../../layers/gateway/names.ts'
import type { Input } from '../commands.ts'

/** The items that a command names, of one write or of a whole transaction. */
export function namedItems(input: Input): string[] {
  const { TableName = '', Key, Item, TransactItems } = input
  if (TransactItems) return TransactItems.flatMap((item) => Object.values(item).flatMap(namedItems))
  const item = Key ?? Item
  if (!item) return []
  const { partitionKey, sortKey = '' }: TableDefinition = TABLES[TableName as keyof typeof TABLES]
  return [itemName(TableName, item[partitionKey], item[sortKey])]
}

export function itemName(table: string, ...key: readonly unknown[]): string {
  return [table, ...key].join(' ')
}
