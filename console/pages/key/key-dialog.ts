import type { KeyDetail } from '../../../layers/admin/api/shapes/keys.ts'

export type KeyDialogProps = {
  readonly of: KeyDetail
  /** Gets the key as the server now describes it. */
  readonly onDone: (now: KeyDetail) => void
  readonly onClose: () => void
}
