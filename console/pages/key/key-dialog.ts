import type { KeyDetail } from '../../../layers/admin/api/shapes/keys.ts'

/** What every dialog on a key is given. */
export type KeyDialogProps = {
  readonly of: KeyDetail
  /** With what the server now says of the key. */
  readonly onDone: (now: KeyDetail) => void
  readonly onClose: () => void
}
