import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { CatalogShape } from '../../../layers/admin/api/shapes/catalog.ts'
import { ApiFailure, ask, type Sent } from '../../api.ts'
import { ActDialog } from '../../parts/act-dialog.tsx'
import { announce } from '../../parts/announce.tsx'
import { Field } from '../../parts/field.tsx'

type Props = {
  readonly title: string
  readonly verb: string
  /** The version that it is put over. */
  readonly over: number
  readonly path: string
  readonly method: NonNullable<Sent['method']>
  readonly body?: object
  readonly isReady?: boolean
  readonly onStale: () => void
  readonly onDone: (now: CatalogShape) => void
  readonly onClose: () => void
  readonly children: ComponentChildren
}

/** A catalog is put in force over the version that its changes were shown against, and over no other. */
export function PutInForce({ over, path, method, body, onStale, onDone, children, ...rest }: Props) {
  const [note, setNote] = useState('')
  const put = async () => {
    try {
      const now = await ask<CatalogShape>(path, {
        method,
        body: { ...body, ...(note && { note }) },
        headers: { 'If-Match': `"${over}"` },
      })
      announce(`Version ${now.version} is in force.`)
      onDone(now)
    } catch (error) {
      if (error instanceof ApiFailure && (error.status === 412 || error.status === 409)) onStale()
      throw error
    }
  }
  return (
    <ActDialog {...rest} onAct={put}>
      {children}
      <Field label="Note" value={note} onInput={setNote} maxLength={200} hint="Why, for whoever reads the versions." />
    </ActDialog>
  )
}
