import type { ShowPage } from '../router.ts'
import { KeyPage } from './key.tsx'
import { Keys } from './keys.tsx'

export const PAGES: Readonly<Record<string, ShowPage>> = {
  keys: (url) => <Keys key="keys" url={url} />,
  'keys/': (url) => <KeyPage key={url.path[1]} id={url.path[1] ?? ''} url={url} />,
}
