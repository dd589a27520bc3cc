import { useEffect, useState } from 'preact/hooks'
import type { CatalogCheck, CatalogShape } from '../../../layers/admin/api/shapes/catalog.ts'
import { ApiFailure, ask } from '../../api.ts'
import { ActForm } from '../../parts/act-form.tsx'
import { announce } from '../../parts/announce.tsx'
import { Command } from '../../parts/command.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Problem } from '../../parts/problem.tsx'
import { useSubmission } from '../../parts/use-submission.ts'
import { ChangeList } from './change-list.tsx'

type Props = {
  readonly to: number
  readonly inForce: number
  readonly onStale: () => void
  readonly onDone: (now: CatalogShape) => void
  readonly onClose: () => void
}

/** Puts an earlier version in force again, as a new one, after its changes were shown. */
export function RollBack({ to, inForce, onStale, onDone, onClose }: Props) {
  const reading = useSubmission()
  const submission = useSubmission()
  const [check, setCheck] = useState<CatalogCheck | undefined>(undefined)
  useEffect(() => {
    void reading.run(async () => {
      const { catalog } = await ask<CatalogShape>(`/catalog/versions/${to}`)
      setCheck(await ask<CatalogCheck>('/catalog/check', { method: 'POST', body: catalog }))
    })
  }, [to, inForce])

  const restore = async () => {
    try {
      const now = await ask<CatalogShape>(`/catalog/versions/${to}/restore`, {
        method: 'POST',
        headers: { 'If-Match': `"${inForce}"` },
      })
      announce(`Version ${now.version} is in force, with what ${to} had.`)
      onDone(now)
    } catch (error) {
      if (error instanceof ApiFailure && (error.status === 412 || error.status === 409)) onStale()
      throw error
    }
  }
  return (
    <Dialog title={`Roll back to version ${to}?`} onClose={onClose}>
      <ActForm
        submission={submission}
        verb="Roll back"
        isReady={check?.valid ?? false}
        onSubmit={restore}
        onClose={onClose}
      >
        <Problem failure={reading.failure} />
        {check && <p>Over version {inForce}, in force within seconds. It changes:</p>}
        {check?.faults.map(({ path, message }) => (
          <p key={path + message} class="notice bad">
            <code>{path}</code> {message}
          </p>
        ))}
        {check && <ChangeList {...check} />}
        <p class="quiet">
          The same: <Command>{`catalog rollback ${to}`}</Command>
        </p>
      </ActForm>
    </Dialog>
  )
}
