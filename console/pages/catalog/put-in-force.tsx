import type { ComponentChildren } from 'preact'
import type { CatalogCheck, CatalogShape } from '../../../layers/admin/api/shapes/catalog.ts'
import { ask, type Sent } from '../../api.ts'
import { announce, Field } from '../../parts/controls.tsx'
import { ActDialog } from '../../parts/dialog.tsx'
import { Command, Lines, Loading } from '../../parts/page.tsx'
import { useDraft } from '../../parts/use-draft.ts'
import { useLoad } from '../../parts/use-load.ts'

export type Then = {
  /** Another version is in force than the one that was shown. */
  readonly onStale: () => void
  readonly onDone: (now: CatalogShape) => void
  readonly onClose: () => void
}

type Props = Then & {
  readonly title: string
  readonly verb: string
  readonly over: number
  readonly path: string
  readonly sent: Pick<Sent, 'method'> & { readonly body?: object }
  readonly isReady?: boolean
  readonly children: ComponentChildren
}

/** A catalog is put in force over the version that its changes were shown against, and over no other. */
export function PutInForce({ over, path, sent, onStale, onDone, children, ...rest }: Props) {
  const draft = useDraft('note', { note: '' })
  const { note } = draft.typed
  const put = async () => {
    const body = { ...sent.body, ...(note && { note }) }
    const headers = { 'If-Match': `"${over}"` }
    const now = await ask<CatalogShape>(path, { ...sent, body, headers })
    announce(`Version ${now.version} is in force.`)
    onDone(now)
  }
  return (
    <ActDialog {...rest} draft={draft} onAct={put} onFailed={({ status }) => [409, 412].includes(status) && onStale()}>
      {children}
      <Field label="Note" {...draft.field('note')} maxLength={200} hint="Why, for whoever reads the versions." />
    </ActDialog>
  )
}

export function RollBack({ to, inForce, ...rest }: Then & { readonly to: number; readonly inForce: number }) {
  const check = useLoad(`${to} over ${inForce}`, async (_, { signal } = {}) => {
    const { catalog: body } = await ask<CatalogShape>(`/catalog/versions/${to}`, { signal })
    return ask<CatalogCheck>('/catalog/check', { method: 'POST', body, signal })
  })
  return (
    <PutInForce
      {...rest}
      title={`Roll back to version ${to}?`}
      verb="Roll back"
      over={inForce}
      path={`/catalog/versions/${to}/restore`}
      sent={{ method: 'POST' }}
      isReady={check.data?.valid ?? false}
    >
      <Loading of={check}>
        {({ faults, ...changed }) => [
          <p>Over version {inForce}, in force within seconds. It changes:</p>,
          faults.map(({ path, message }) => (
            <p key={path + message} class="notice bad">
              <code>{path}</code> {message}
            </p>
          )),
          <ChangeList {...changed} />,
        ]}
      </Loading>
      <p class="quiet">
        The same: <Command>{`catalog rollback ${to}`}</Command>
      </p>
    </PutInForce>
  )
}

export function ChangeList({ changes, warnings }: Pick<CatalogCheck, 'changes' | 'warnings'>) {
  return [
    changes.length > 0 && <Lines of={changes} />,
    warnings.map((warning) => (
      <p key={warning} class="notice warn">
        {warning}
      </p>
    )),
  ]
}
