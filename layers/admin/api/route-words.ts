import type { z } from 'zod'
import type { ROUTES } from './route-table.ts'
import { Account, AccountDetail, AccountGrantMade, AccountMade } from './shapes/accounts.ts'
import { Identity, listOf, Search, Table } from './shapes/answers.ts'
import { AuditLine, Event } from './shapes/books.ts'
import { Catalog, CatalogCheck, CatalogVersion, Route, RouteTest } from './shapes/catalog.ts'
import { AdminKey, Grant, GrantMade, Key, KeyDetail, KeyWithSecret } from './shapes/keys.ts'
import { Request, RequestLine } from './shapes/requests.ts'
import { Overview, UsagePage } from './shapes/usage.ts'

export type RouteWords = {
  readonly summary: string
  readonly answer: z.ZodType
  readonly needs?: 'Idempotency-Key' | 'If-Match'
  /** Beside those that follow from the path, the body and the header. */
  readonly refusals?: readonly number[]
  /** Types for Accept, or the type of the answer if it is not JSON. */
  readonly types?: readonly string[]
}

export const LISTS = {
  KeyList: listOf(Key),
  AccountList: listOf(Account),
  GrantList: listOf(Grant),
  EventList: listOf(Event),
  RequestLineList: listOf(RequestLine),
  CatalogVersionList: listOf(CatalogVersion),
  RouteList: listOf(Route),
  RouteTestList: listOf(RouteTest),
  TableList: listOf(Table),
  AdminKeyList: listOf(AdminKey),
}

/** Descriptions and answers of the routes, for the document. The function does not load them. */
export const ROUTE_WORDS: Readonly<Record<keyof typeof ROUTES, RouteWords>> = {
  whoAmI: { summary: 'The caller, the stage, and what the caller may do', answer: Identity },
  getOverview: { summary: 'What was spent, which keys run dry, and the last audit', answer: Overview },
  search: { summary: 'Find a key, an account or a request', answer: Search },
  listKeys: { summary: 'Keys, newest first', answer: LISTS.KeyList },
  createKey: { summary: 'Make a key', answer: KeyWithSecret, needs: 'Idempotency-Key', refusals: [409] },
  getKey: { summary: 'A key', answer: KeyDetail },
  updateKey: { summary: 'Change a key. Null takes a setting away', answer: KeyDetail, needs: 'If-Match' },
  rotateKey: {
    summary: 'Issue a new secret. The secret of an earlier rotation that is still in its grace ends at once',
    answer: KeyWithSecret,
    needs: 'Idempotency-Key',
    refusals: [409],
  },
  endGrace: { summary: 'End the old secret now', answer: KeyDetail, refusals: [409] },
  suspendKey: {
    summary: 'Refuse a key from the next request on, until it is resumed',
    answer: KeyDetail,
    refusals: [409],
  },
  resumeKey: { summary: 'Admit a suspended key again', answer: KeyDetail, refusals: [409] },
  revokeKey: { summary: 'End a key for good', answer: KeyDetail, refusals: [409] },
  adoptKey: {
    summary: 'Move a key with its balance, and all that it was charged, into an account, for good',
    answer: KeyDetail,
    refusals: [409],
  },
  listGrants: { summary: 'Grants of a key, newest first', answer: LISTS.GrantList },
  grantCredits: {
    summary: 'Add credits, or, below zero, take some back that are available',
    answer: GrantMade,
    needs: 'Idempotency-Key',
    refusals: [409],
  },
  listKeyEvents: { summary: 'Changes of a key, newest first', answer: LISTS.EventList },
  listAccounts: { summary: 'Accounts, newest first', answer: LISTS.AccountList },
  createAccount: {
    summary: 'Make an account: one balance for any number of keys',
    answer: AccountMade,
    needs: 'Idempotency-Key',
    refusals: [409],
  },
  getAccount: { summary: 'An account, where its credits lie, and its keys', answer: AccountDetail },
  updateAccount: { summary: 'Change an account. Null takes a setting away', answer: AccountDetail, needs: 'If-Match' },
  suspendAccount: {
    summary: 'Refuse every key of an account from its next request on, until it is resumed',
    answer: AccountDetail,
    refusals: [409],
  },
  resumeAccount: {
    summary: 'Admit the keys of an account again that were suspended with it',
    answer: AccountDetail,
    refusals: [409],
  },
  closeAccount: { summary: 'End an account and its keys for good', answer: AccountDetail, refusals: [409] },
  listAccountGrants: { summary: 'Grants of an account, newest first', answer: LISTS.GrantList },
  grantToAccount: {
    summary: 'Add credits, or, below zero, take some back, wherever they lie, that no request holds',
    answer: AccountGrantMade,
    needs: 'Idempotency-Key',
    refusals: [409],
  },
  listAccountEvents: { summary: 'Changes of an account, newest first', answer: LISTS.EventList },
  listEvents: {
    summary: 'Changes of keys, accounts and the catalog, newest first',
    answer: LISTS.EventList,
    refusals: [404],
  },
  listRequests: {
    summary:
      'Requests, newest first; a page may have fewer than its limit and go on all the same. With Accept: text/csv or application/x-ndjson every row of the range, oldest first within a key',
    answer: LISTS.RequestLineList,
    refusals: [404],
    types: ['application/json', 'text/csv', 'application/x-ndjson'],
  },
  getRequest: { summary: 'A request and its charge, line by line', answer: Request },
  getUsage: { summary: 'Usage by day and group', answer: UsagePage, refusals: [404] },
  audit: {
    summary: 'Prove the books, a line for each key, then for each account, and one at the end of the page',
    answer: AuditLine,
    refusals: [404],
    types: ['application/x-ndjson'],
  },
  getCatalog: { summary: 'The catalog in force, or that was at a moment', answer: Catalog, refusals: [404] },
  putCatalog: { summary: 'Put a catalog in force', answer: Catalog, needs: 'If-Match' },
  checkCatalog: { summary: 'Check a catalog without putting it in force', answer: CatalogCheck },
  listCatalogVersions: { summary: 'Versions of the catalog, newest first', answer: LISTS.CatalogVersionList },
  getCatalogVersion: { summary: 'A version of the catalog', answer: Catalog },
  restoreCatalogVersion: { summary: 'Put the content of a version in force again', answer: Catalog, needs: 'If-Match' },
  listRoutes: { summary: 'Routes in the order in which they are tried', answer: LISTS.RouteList },
  testRoutes: {
    summary: 'Ask each route once, which its provider bills, for 20 seconds at most',
    answer: LISTS.RouteTestList,
    refusals: [409],
  },
  listTables: {
    summary: 'Settings of the tables that a restore does not bring back',
    answer: LISTS.TableList,
    refusals: [501],
  },
  listAdminKeys: { summary: 'Admin keys, newest first', answer: LISTS.AdminKeyList },
  createAdminKey: {
    summary: 'Make an admin key, whose secret you have made',
    answer: AdminKey,
    needs: 'Idempotency-Key',
    refusals: [409],
  },
  rotateAdminKey: {
    summary: 'Give an admin key another secret; the old one works for an hour more',
    answer: AdminKey,
    needs: 'Idempotency-Key',
    refusals: [409],
  },
  revokeAdminKey: { summary: 'End an admin key for good', answer: AdminKey, refusals: [409] },
}
