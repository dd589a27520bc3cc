import type { z } from 'zod'
import type { ROUTES } from './route-table.ts'
import { Account, AccountDetail, AccountGrantMade, AccountMade } from './shapes/accounts.ts'
import { Identity, listOf, Search, Table } from './shapes/answers.ts'
import { AuditLine, Event, Notice, Statement } from './shapes/books.ts'
import { Catalog, CatalogCheck, CatalogVersion, Plan, Route, RouteTest } from './shapes/catalog.ts'
import { AdminKey, Grant, GrantMade, Key, KeyDetail, KeyWithSecret } from './shapes/keys.ts'
import { Request, RequestLine } from './shapes/requests.ts'
import { FocusLine, Overview, UsagePage } from './shapes/usage.ts'

export type RouteWords = {
  readonly summary: string
  readonly answer: z.ZodType
  readonly needs?: 'Idempotency-Key' | 'If-Match'
  /** Beside those that follow from the path, the scope, the body and the header. */
  readonly refusals?: readonly number[]
  /** Types for Accept, or the type of the answer if it is not JSON. */
  readonly types?: readonly string[]
}

const LISTED = {
  ...{ Key, Account, Grant, Event, Notice, RequestLine, FocusLine },
  ...{ CatalogVersion, Plan, Route, RouteTest, Table, AdminKey },
}

const lists = Object.entries<z.ZodType>(LISTED).map(([name, row]) => [`${name}List`, listOf(row)])
export const LISTS: { readonly [Name in keyof typeof LISTED as `${Name}List`]: z.ZodType } = Object.fromEntries(lists)

type More = Omit<RouteWords, 'summary' | 'answer'>

const ONCE: More = { needs: 'Idempotency-Key' }
const SEEN: More = { needs: 'If-Match' }
/** The query may name one that is not there. */
const OF_ONE: More = { refusals: [404] }

const words = (summary: string, answer: z.ZodType, more: More = {}): RouteWords => ({ summary, answer, ...more })

/** Descriptions and answers of the routes, for the document. The function does not load them. */
export const ROUTE_WORDS: Readonly<Record<keyof typeof ROUTES, RouteWords>> = {
  whoAmI: words('The caller, the stage, and what the caller may do', Identity),
  getOverview: words('What was spent, which keys run dry, and the last audit', Overview),
  search: words('Find a key, an account or a request', Search),
  listKeys: words('Keys, newest first', LISTS.KeyList),
  createKey: words('Make a key', KeyWithSecret, ONCE),
  getKey: words('A key', KeyDetail),
  updateKey: words('Change a key. Null takes a setting away', KeyDetail, SEEN),
  rotateKey: words(
    'Issue a new secret. The secret of an earlier rotation that is still in its grace ends at once',
    KeyWithSecret,
    ONCE,
  ),
  endGrace: words('End the old secret now', KeyDetail),
  suspendKey: words('Refuse a key from the next request on, until it is resumed', KeyDetail),
  resumeKey: words('Admit a suspended key again', KeyDetail),
  revokeKey: words('End a key for good', KeyDetail),
  adoptKey: words('Move a key with its balance, and all that it was charged, into an account, for good', KeyDetail),
  listGrants: words('Grants of a key, newest first', LISTS.GrantList),
  grantCredits: words('Add credits, or, below zero, take some back that are available', GrantMade, ONCE),
  getKeyStatement: words('The statement of a key that is alone for a closed month', Statement),
  listKeyEvents: words('Changes of a key, newest first', LISTS.EventList),
  listAccounts: words('Accounts, newest first', LISTS.AccountList),
  createAccount: words('Make an account: one balance for any number of keys', AccountMade, ONCE),
  getAccount: words('An account, where its credits lie, and its keys', AccountDetail),
  updateAccount: words('Change an account. Null takes a setting away', AccountDetail, SEEN),
  suspendAccount: words('Refuse every key of an account from its next request on, until it is resumed', AccountDetail),
  resumeAccount: words('Admit the keys of an account again that were suspended with it', AccountDetail),
  closeAccount: words('End an account and its keys for good', AccountDetail),
  listAccountGrants: words('Grants of an account, newest first', LISTS.GrantList),
  grantToAccount: words(
    'Add credits, or, below zero, take some back, wherever they lie, that no request holds',
    AccountGrantMade,
    ONCE,
  ),
  getAccountStatement: words('The statement of an account for a closed month', Statement),
  listAccountEvents: words('Changes of an account, newest first', LISTS.EventList),
  listEvents: words('Changes of keys, accounts and the catalog, newest first', LISTS.EventList, OF_ONE),
  listNotices: words('Notices of the last 30 days and how they were told, newest first', LISTS.NoticeList),
  listRequests: words(
    'Requests, newest first; a page may have fewer than its limit and go on all the same. With Accept: text/csv or application/x-ndjson every row of the range, oldest first within a key',
    LISTS.RequestLineList,
    { refusals: [404], types: ['application/json', 'text/csv', 'application/x-ndjson'] },
  ),
  getRequest: words('A request and its charge, line by line', Request),
  getUsage: words('Usage by day and group', UsagePage, OF_ONE),
  listFocus: words('What was charged on closed days, in lines of FOCUS 1.4', LISTS.FocusLineList),
  audit: words(
    'Prove the books, a line for each key, then for each account, and one at the end of the page',
    AuditLine,
    { refusals: [404], types: ['application/x-ndjson'] },
  ),
  getCatalog: words('The catalog in force, or that was at a moment', Catalog, OF_ONE),
  putCatalog: words('Put a catalog in force', Catalog, SEEN),
  checkCatalog: words('Check a catalog without putting it in force', CatalogCheck),
  listCatalogVersions: words('Versions of the catalog, newest first', LISTS.CatalogVersionList),
  getCatalogVersion: words('A version of the catalog', Catalog),
  restoreCatalogVersion: words('Put the content of a version in force again', Catalog, SEEN),
  listPlans: words('Plans, by name', LISTS.PlanList),
  createPlan: words('Make a plan. A key may have it at once', Plan, SEEN),
  getPlan: words('A plan', Plan),
  updatePlan: words('Change a plan. Its prices hold within 30 seconds everywhere. Null takes a value away', Plan, SEEN),
  listRoutes: words('Routes in the order in which they are tried', LISTS.RouteList),
  testRoutes: words('Ask each route once, which its provider bills, for 20 seconds at most', LISTS.RouteTestList),
  listTables: words('Settings of the tables that a restore does not bring back', LISTS.TableList, { refusals: [501] }),
  listAdminKeys: words('Admin keys, newest first', LISTS.AdminKeyList),
  createAdminKey: words('Make an admin key, whose secret you have made', AdminKey, ONCE),
  rotateAdminKey: words('Give an admin key another secret; the old one works for an hour more', AdminKey, ONCE),
  revokeAdminKey: words('End an admin key for good', AdminKey),
}
