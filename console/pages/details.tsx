import { AccountPage } from './account.tsx'
import { KeyPage } from './key.tsx'

export const PAGES = { 'accounts/': AccountPage, 'keys/': KeyPage }
