import { useEffect, useState } from 'preact/hooks'
import type { CatalogCheck, CatalogShape } from '../../../layers/admin/api/shapes/catalog.ts'
import { ask } from '../../api.ts'
import { Command } from '../../parts/command.tsx'
import { Problem } from '../../parts/loading.tsx'
import { useSubmission } from '../../parts/use-submission.ts'
import { ChangeList } from './change-list.tsx'
import { PutInForce } from './put-in-force.tsx'

type Props = {
  readonly to: number
  readonly inForce: number
  readonly onStale: () => void
  readonly onDone: (now: CatalogShape) => void
  readonly onClose: () => void
}

/** Puts an earlier version in force again, as a new one, after its changes were shown. */
export function RollBack({ to, inForce, ...rest }: Props) {
  const reading = useSubmission()
  const [check, setCheck] = useState<CatalogCheck | undefined>(undefined)
  useEffect(() => {
    void reading.run(async () => {
      const { catalog } = await ask<CatalogShape>(`/catalog/versions/${to}`)
      setCheck(await ask<CatalogCheck>('/catalog/check', { method: 'POST', body: catalog }))
    })
  }, [to, inForce])
  return (
    <PutInForce
      {...rest}
      title={`Roll back to version ${to}?`}
      verb="Roll back"
      over={inForce}
      path={`/catalog/versions/${to}/restore`}
      method="POST"
      isReady={check?.valid ?? false}
    >
      <Problem failure={reading.failure} />
      {check && (
        <>
          <p>Over version {inForce}, in force within seconds. It changes:</p>
          {check.faults.map(({ path, message }) => (
            <p key={path + message} class="notice bad">
              <code>{path}</code> {message}
            </p>
          ))}
          <ChangeList {...check} />
        </>
      )}
      <p class="quiet">
        The same: <Command>{`catalog rollback ${to}`}</Command>
      </p>
    </PutInForce>
  )
}
