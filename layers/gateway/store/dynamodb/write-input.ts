import { quoted, writeAttributes } from './attribute-values.ts'
import type { Item, QueryInput } from './database.ts'

/** The members of a call that have values. */
export type Input = { readonly Key?: Item; readonly Item?: Item } & Pick<
  QueryInput,
  'ExpressionAttributeValues' | 'ExclusiveStartKey'
>
const IN_ATTRIBUTES: ReadonlySet<string> = new Set(['Key', 'Item', 'ExpressionAttributeValues', 'ExclusiveStartKey'])

/** The same members as JSON, with the values in DynamoDB's own form. */
export function writeInput(input: Input): string {
  const members = input as Readonly<Record<string, unknown>>
  let text = ''
  for (const name in members) {
    const value = members[name]
    if (value === undefined) continue
    text += `${text === '' ? '{' : ','}"${name}":${writeMember(name, value)}`
  }
  return `${text}}`
}

function writeMember(name: string, value: unknown): string {
  if (typeof value === 'string') return quoted(value)
  return IN_ATTRIBUTES.has(name) ? writeAttributes(value as Item) : JSON.stringify(value)
}
