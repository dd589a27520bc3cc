import type { ComponentChildren } from 'preact'
import type { KeyDetail } from '../../../layers/admin/api/shapes/keys.ts'
import { keyPath, post } from '../../api.ts'
import { ActDialog } from '../../parts/act-dialog.tsx'
import { announce } from '../../parts/announce.tsx'
import type { KeyDialogProps } from './key-dialog.ts'

type Props = KeyDialogProps & {
  /** The act's last part of its path. */
  readonly act: 'suspend' | 'resume' | 'revoke' | 'end-grace'
  readonly title: string
  readonly verb: string
  /** Announced when it is done. */
  readonly done: string
  readonly body?: unknown
  readonly isDangerous?: boolean
  readonly isReady?: boolean
  readonly children: ComponentChildren
}

/** An act that the server answers with the key as it is then. */
export function ActOnKey({ of: key, act, done, body, onDone, ...rest }: Props) {
  const send = async (idempotencyKey: string) => {
    const now = await post<KeyDetail>(`${keyPath(key.id)}/${act}`, idempotencyKey, body)
    announce(done)
    onDone(now)
  }
  return <ActDialog {...rest} onAct={send} />
}
