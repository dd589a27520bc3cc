import { KeyPage } from './key.tsx'
import { Keys } from './keys.tsx'

export const PAGES = { keys: Keys, 'keys/': KeyPage }
