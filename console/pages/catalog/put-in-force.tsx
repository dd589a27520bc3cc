import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { List } from '../../../layers/admin/api/shapes/answers.ts'
import type { CatalogCheck, CatalogShape, PlanShape } from '../../../layers/admin/api/shapes/catalog.ts'
import { type ApiFailure, ask, type Sent } from '../../api.ts'
import { announce, Button, Field, Tick } from '../../parts/controls.tsx'
import { ActDialog } from '../../parts/dialog.tsx'
import type { Model } from '../../parts/models.ts'
import { Command, Empty, Lines, Loading } from '../../parts/page.tsx'
import { type Column, cell, name, number, Table } from '../../parts/table.tsx'
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
  const loss = useLoss()
  const put = async () => {
    const body = { ...sent.body, ...(note && { note }), ...loss.sent }
    const headers = { 'If-Match': `"${over}"` }
    const now = await ask<CatalogShape>(path, { ...sent, body, headers })
    announce(`Version ${now.version} is in force.`)
    onDone(now)
  }
  return (
    <ActDialog
      {...rest}
      draft={draft}
      onAct={put}
      onFailed={(failure) => !loss.isAsked(failure) && [409, 412].includes(failure.status) && onStale()}
    >
      {children}
      {loss.tick}
      <Field label="Note" {...draft.field('note')} maxLength={200} hint="Why, for whoever reads the versions." />
    </ActDialog>
  )
}

/** A price below a cost is refused until somebody says that it is meant. */
function useLoss() {
  const [isMeant, setMeant] = useState<boolean | undefined>(undefined)
  const isAsked = ({ code }: ApiFailure) => {
    if (code === 'below_cost') setMeant(false)
    return code === 'below_cost'
  }
  const tick = isMeant !== undefined && (
    <Tick checked={isMeant} onChange={() => setMeant(!isMeant)}>
      Sell below cost
    </Tick>
  )
  return { isAsked, tick, sent: isMeant && { below_cost: true } }
}

export function RollBack({ to, inForce, ...rest }: Then & { readonly to: number; readonly inForce: number }) {
  const check = useLoad(`${to} over ${inForce}`, async (_, { signal } = {}) => {
    const { catalog: body } = await ask<CatalogShape>(`/catalog/versions/${to}`, { signal })
    return { catalog: body, ...(await ask<CatalogCheck>('/catalog/check', { method: 'POST', body, signal })) }
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
        {({ catalog, faults, ...changed }) => [
          <p>Over version {inForce}, in force within seconds. It changes:</p>,
          faults.map((fault) => (
            <p key={fault.path + fault.message} class="notice bad">
              <FaultText in={catalog} of={fault} />
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

type FaultProps = { readonly in: unknown; readonly of: CatalogCheck['faults'][number] }

/** `gpt-5-mini: price.input` in place of `models[2].price.input`: people know their models by their ids. */
export function FaultText({ in: catalog, of: { path, message } }: FaultProps) {
  const { models } = (catalog ?? {}) as { readonly models?: readonly Partial<Model>[] }
  const place = path.replace(/^models\[(\d+)\]\.?/, (whole, at) => (models?.[at]?.id ? `${models[at].id}: ` : whole))
  return [place && <code>{place}</code>, ' ', message]
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

/** Prices for some customers. Their own prices of models, and what new keys get, are set on the command line. */
export function Plans({ over, onDone }: { readonly over: number; readonly onDone: () => void }) {
  const plans = useLoad<List<PlanShape>>('/plans')
  const [edited, setEdited] = useState<PlanShape | 'new' | undefined>(undefined)
  const columns: readonly Column<PlanShape>[] = [
    name('Name', (plan) => plan.name),
    number('Factor', (plan) => plan.factor),
    cell('Own prices', ({ prices, factor }) => Object.keys(prices).join(', ') || `catalog × ${factor}`, 'rest'),
    cell('Change', (plan) => <Button onClick={() => setEdited(plan)}>Change {plan.name}…</Button>),
  ]
  const done = () => {
    void plans.reload()
    onDone()
  }
  return [
    <h2>Plans</h2>,
    <Loading of={plans}>
      {({ data }) => (data.length > 0 ? <Table caption="Plans" columns={columns} rows={data} by="name" /> : NONE)}
    </Loading>,
    <Button onClick={() => setEdited('new')}>Create plan</Button>,
    edited && <PlanDialog of={edited} over={over} onDone={done} onClose={() => setEdited(undefined)} />,
  ]
}

const NONE = (
  <Empty command="plans create --name gold --factor 1.25">
    There are no plans: every customer pays the prices of the catalog. <strong>Create plan</strong> makes one, and so
    does
  </Empty>
)

type DialogProps = {
  readonly of: PlanShape | 'new'
  readonly over: number
  readonly onDone: () => void
  readonly onClose: () => void
}

function PlanDialog({ of, over, onDone, onClose }: DialogProps) {
  const known = of === 'new' ? undefined : of
  const draft = useDraft(`plan ${known?.name}`, { name: '', factor: known?.factor ?? '1.25' })
  const { typed } = draft
  const loss = useLoss()
  const put = async () => {
    const body = { factor: typed.factor.trim(), ...loss.sent, ...(!known && { name: typed.name.trim() }) }
    const path = known ? `/plans/${known.name}` : '/plans'
    const headers = { 'If-Match': `"${over}"` }
    const plan = await ask<PlanShape>(path, { method: known ? 'PATCH' : 'POST', body, headers })
    announce(`The plan ${plan.name} is in force within 30 seconds.`)
    onDone()
    onClose()
  }
  return (
    <ActDialog
      title={known ? `Change ${known.name}` : 'Create a plan'}
      verb={known ? 'Change' : 'Create'}
      draft={draft}
      onAct={put}
      onFailed={(failure) => !loss.isAsked(failure) && [409, 412].includes(failure.status) && onDone()}
      onClose={onClose}
    >
      {!known && <Field label="Name" required {...draft.field('name')} maxLength={15} />}
      <Field
        label="Factor"
        required
        number="decimal"
        {...draft.field('factor')}
        hint="The prices of the catalog times this: 0.0001 to 100."
      />
      {loss.tick}
    </ActDialog>
  )
}
