import { z } from 'zod'
import { Account } from './accounts.ts'
import { Key } from './keys.ts'
import { flag, kind, orNull, type Shape, text, texts } from './parts.ts'

export function listOf<Row extends z.ZodType>(row: Row) {
  return z.object({
    object: kind('list'),
    data: z.array(row).describe('The rows of this page.'),
    has_more: flag('The list goes on after this page.'),
    last_id: orNull(text('To be sent as after for the next page.')),
  })
}

export type List<T> = Omit<Shape<ReturnType<typeof listOf<z.ZodType>>>, 'data'> & { readonly data: readonly T[] }

export const ApiError = z.object({
  error: z
    .object({
      message: text('The reason, for people.'),
      type: text('The kind of the error.'),
      param: orNull(text('The field, query or header that it is about.')),
      code: orNull(text('The reason, for programs.')),
    })
    .describe('The refusal.'),
})
export type ApiError = Shape<typeof ApiError>

export const Identity = z.object({
  object: kind('identity'),
  by: text('The IAM ARN, the id of the admin key or the local user, as events name it.'),
  stage: text('The stage that is administered.'),
  protected: flag('Commands ask before a change.'),
  scopes: texts('The caller may do this here.'),
  base_url: text('The address of the gateway with /v1, as SDKs take it.'),
  address: orNull(
    text(
      'The address from which requests of this machine reach the gateway, if it is known: 127.0.0.1 for a local one.',
    ),
  ).optional(),
})
export type WhoAmI = Shape<typeof Identity>

export const Table = z.object({
  object: kind('table'),
  kind: z.enum(['keys', 'usage', 'answers']).describe('The content of the table.'),
  name: text('The name of the table in DynamoDB.'),
  expires: flag('Its time to live is on, by the attribute that our items have.'),
  recoverable: flag('Point-in-time recovery is on.'),
  deletion_protected: flag('Deletion protection is on.'),
})
export type TableShape = Shape<typeof Table>

export const Search = z.object({
  object: kind('search'),
  keys: z.array(Key).describe('Keys by id, external id, last four or a part of the name.'),
  accounts: z.array(Account).describe('Accounts by id, external id, reference of a grant or a part of the name.'),
  request_id: orNull(text('The request with this id, if there is one.')),
})
export type SearchShape = Shape<typeof Search>
