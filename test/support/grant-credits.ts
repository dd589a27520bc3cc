import type { Tables } from '../../layers/gateway/store/dynamodb/database.ts'
import { KEY } from '../../layers/gateway/store/keys/change-key.ts'
import { grantTo } from '../../layers/gateway/store/keys/grant-credits.ts'

/** To the books of a key that is alone: what lies in a pool is granted to its pool. */
export const grantCredits = (tables: Tables) => grantTo(tables, KEY, 'key.grant')
