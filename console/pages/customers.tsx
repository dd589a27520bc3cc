import { AccountPage } from './account.tsx'
import { Accounts } from './accounts.tsx'
import { KeyPage } from './key.tsx'
import { Keys } from './keys.tsx'

export const PAGES = { accounts: Accounts, 'accounts/': AccountPage, keys: Keys, 'keys/': KeyPage }
