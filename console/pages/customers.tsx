import { Accounts } from './accounts.tsx'
import { Keys } from './keys.tsx'

export const PAGES = { accounts: Accounts, keys: Keys }
