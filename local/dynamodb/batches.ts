import { validationError } from './failures.ts'
import type { Item } from './value.ts'
import type { WriteInput } from './write.ts'

type Input = Readonly<Record<string, unknown>>
type Members = Readonly<Record<string, Input>>
type Get = (input: Input) => { readonly Item?: Item }

const MOST_GETS = 100
const MOST_WRITES = 25

export function transactGets({ TransactItems }: Input): Input[] {
  const gets = (TransactItems ?? []) as readonly { readonly Get?: Input }[]
  if (gets.length < 1 || gets.length > MOST_GETS) throw validationError('transactItems: wrong length')
  const asked = gets.map(({ Get: get }) => {
    if (!get) throw validationError('TransactItems can only contain Get')
    return get
  })
  refuseTwice(asked.map(({ TableName, Key }) => [TableName, Key]))
  return asked
}

/** Keys are texts; their attributes may come in any order. */
function refuseTwice(places: readonly (readonly [unknown, unknown])[]): void {
  const names = places.map(([table, key]) => JSON.stringify([table, Object.entries(key as Item).sort()]))
  if (new Set(names).size < names.length) throw validationError('Provided list of item keys contains duplicates')
}

export function batchGet({ RequestItems }: Input, get: Get) {
  const requests = Object.entries((RequestItems ?? {}) as Members)
  const keys = requests.flatMap(([, { Keys }]) => (Keys ?? []) as Item[])
  if (keys.length < 1 || keys.length > MOST_GETS)
    throw validationError('Too many items requested for the BatchGetItem call')
  refuseTwice(requests.flatMap(([table, { Keys }]) => (Keys as Item[]).map((key) => [table, key] as const)))
  const answers = requests.map(([TableName, { Keys, ...members }]) => {
    const found = (Keys as Item[]).map((Key) => get({ TableName, Key, ...members }).Item)
    return [TableName, found.filter((item) => item !== undefined)] as const
  })
  return { Responses: Object.fromEntries(answers), UnprocessedKeys: {} }
}

type BatchWrite = { readonly kind: 'Put' | 'Delete'; readonly write: WriteInput }

export function batchWrites({ RequestItems }: Input): BatchWrite[] {
  const writes = Object.entries((RequestItems ?? {}) as Record<string, Input[]>).flatMap(([TableName, requests]) =>
    requests.map((request): BatchWrite => {
      const { PutRequest, DeleteRequest } = request as Members
      if (PutRequest) return { kind: 'Put', write: { TableName, Item: PutRequest.Item as Item } }
      if (DeleteRequest) return { kind: 'Delete', write: { TableName, Key: DeleteRequest.Key as Item } }
      throw validationError('Supplied AttributeValue has neither PutRequest nor DeleteRequest')
    }),
  )
  if (writes.length < 1 || writes.length > MOST_WRITES) {
    throw validationError('Too many items requested for the BatchWriteItem call')
  }
  return writes
}
