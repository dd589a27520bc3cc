import type { ComponentChildren, VNode } from 'preact'
import { useState } from 'preact/hooks'
import type { AccountDetail } from '../../../layers/admin/api/shapes/accounts.ts'
import type { List } from '../../../layers/admin/api/shapes/answers.ts'
import type { GrantBody } from '../../../layers/admin/api/shapes/bodies.ts'
import type { EventShape } from '../../../layers/admin/api/shapes/books.ts'
import type { KeyDetail } from '../../../layers/admin/api/shapes/keys.ts'
import { ask, pathOf, post } from '../../api.ts'
import { linesOf } from '../../parts/columns.tsx'
import { announce, Button, Field, ReferenceField, Tick } from '../../parts/controls.tsx'
import { ActDialog } from '../../parts/dialog.tsx'
import { Lines } from '../../parts/page.tsx'
import { SettingsForm } from '../../parts/settings-form.tsx'
import {
  CUSTOMER_FORM,
  changesOf,
  type Form,
  keyForm,
  settingsOf,
  type Typed,
  typedOf,
} from '../../parts/typed-settings.ts'
import { useDraft } from '../../parts/use-draft.ts'
import { Moment } from '../../parts/values.tsx'

/** A key or a customer: both have settings, grants, changes and acts, at the same paths. */
export type Detail = KeyDetail | AccountDetail

export type DialogProps<Of extends Detail> = {
  readonly of: Of
  readonly onDone: (now: Of) => void
  readonly onClose: () => void
}

export type Act<Of extends Detail> = {
  readonly button: string
  readonly class?: 'primary' | 'danger'
  readonly isOffered?: (of: Of) => boolean
  readonly Form: (props: DialogProps<Of>) => VNode
}

type ButtonProps<Of extends Detail> = Omit<DialogProps<Of>, 'onClose'> & { readonly act: Act<Of> }

export function ActButton<Of extends Detail>({ act: { button, class: kind, Form }, of: now, onDone }: ButtonProps<Of>) {
  // The dialog works on what was there when it opened, even if the page learns of changes meanwhile.
  const [opened, setOpened] = useState<Of>()
  const close = () => setOpened(undefined)
  const done = (then: Of) => {
    close()
    onDone(then)
  }
  return [
    <Button class={kind} onClick={() => setOpened(now)}>
      {button}
    </Button>,
    opened && <Form of={opened} onDone={done} onClose={close} />,
  ]
}

type Plain<Of extends Detail> = Omit<Act<Of>, 'Form'> & {
  readonly path: string
  readonly title?: (name: string) => string
  readonly about: (of: Of) => ComponentChildren
  readonly isConfirmed?: boolean
  readonly isDangerous?: boolean
}

export function plain<Of extends Detail>({ path, title, about, ...act }: Plain<Of>): Act<Of> {
  const { button, isConfirmed, isDangerous = true } = act
  const end = isConfirmed ? ' for good' : ''
  return { ...act, Form }

  function Form({ of, onDone, onClose }: DialogProps<Of>) {
    const [confirm, setConfirm] = useState('')
    const send = async (idempotencyKey: string) => {
      const now = await post<Of>(`${pathOf(of.id)}/${path}`, idempotencyKey, isConfirmed ? { confirm } : {})
      const left = now.object === 'account' ? `, with ${now.available} credits` : ''
      announce(now.warnings?.[0]?.message ?? `Done: ${now.name} is ${now.status}${left}.`)
      onDone(now)
    }
    return (
      <ActDialog
        title={title?.(of.name) ?? `${button} ${of.name}${end}?`}
        verb={button + end}
        isDangerous={isDangerous}
        isReady={!isConfirmed || confirm === of.name}
        onAct={send}
        onClose={onClose}
      >
        <p>{about(of)}</p>
        {isConfirmed && (
          <Field label={`Type its name, ${of.name}, to go on`} value={confirm} onInput={setConfirm} required />
        )}
      </ActDialog>
    )
  }
}

export function pausing<Of extends Detail>(what: (of: Of) => string): readonly Act<Of>[] {
  return [
    plain({
      button: 'Suspend',
      path: 'suspend',
      isOffered: ({ status }) => status !== 'suspended',
      about: (of) =>
        `Every request with ${what(of)} is refused from the next one on, until you resume it. Requests under way end as usual, and credits, limits and secrets stay.`,
    }),
    plain({
      button: 'Resume',
      path: 'resume',
      isDangerous: false,
      isOffered: (of) => of.status === 'suspended' && !(of.object === 'key' && of.account_suspended),
      about: (of) => `Requests with ${what(of)} are admitted again from the next one on.`,
    }),
  ]
}

export function formOf(of: Detail): Form {
  return of.object === 'account' ? CUSTOMER_FORM : keyForm(of.account_id)
}

export function EditSettings<Of extends Detail>({ of: opened, onDone, onClose }: DialogProps<Of>) {
  const form = formOf(opened)
  const [of, setOf] = useState(opened)
  const draft = useDraft<Typed>(`settings ${of.id}`, {})
  const [others, setOthers] = useState<readonly EventShape[]>([])
  const path = pathOf(of.id)
  const before = typedOf(of, form)
  // The kept changes stand on top of those that others have made meanwhile.
  const typed = { ...before, ...draft.typed }
  const changes = changesOf(before, typed)
  const body = settingsOf(
    typed,
    form.filter(({ field }) => field in changes),
  )

  /** Takes over the changes of others, and keeps the typed ones. */
  const meet = async () => {
    const [now, events] = await Promise.all([ask<Of>(path), ask<List<EventShape>>(`${path}/events?limit=20`)])
    setOthers(events.data.slice(0, Math.max(1, now.version - of.version)))
    setOf(now)
  }
  const save = async () => {
    const headers = { 'If-Match': `"${of.version}"` }
    const now = await ask<Of>(path, { method: 'PATCH', body, headers })
    announce(`The settings of ${now.name} were changed.`)
    onDone(now)
  }
  return (
    <ActDialog
      title={`Settings of ${opened.name}`}
      verb="Save"
      isReady={Object.keys(body).length > 0}
      draft={draft}
      onAct={save}
      onFailed={({ status }) => void (status === 412 && meet())}
      onClose={onClose}
    >
      {others.length > 0 && (
        <section class="notice warn" aria-label="Changed meanwhile">
          <p>{opened.name} was changed meanwhile. Nothing of what you typed is lost: look, then save again.</p>
          <Lines
            of={others.map((event) => [
              <strong>{event.by}</strong>,
              ', ',
              <Moment at={event.at} />,
              <Lines of={linesOf(event)} />,
            ])}
          />
        </section>
      )}
      <SettingsForm form={form} typed={typed} onChange={(now) => draft.set(changesOf(before, now))} />
    </ActDialog>
  )
}

export function GrantCredits<Of extends Detail>({ of, onDone, onClose }: DialogProps<Of>) {
  const draft = useDraft(`grant ${of.id}`, { credits: '', reference: '' })
  const { credits, reference } = draft.typed
  const [usedBefore, setUsedBefore] = useState<string>()
  const grant = async (idempotencyKey: string) => {
    const path = pathOf(of.id)
    const body: GrantBody = {
      credits: credits.trim(),
      ...(reference && { reference }),
      ...(usedBefore === reference && { again: true }),
    }
    await post(`${path}/grants`, idempotencyKey, body)
    const now = await ask<Of>(path)
    announce(`Granted. ${of.name} has ${now.available} credits available.`)
    onDone(now)
  }
  return (
    <ActDialog
      title={`Grant credits to ${of.name}`}
      verb="Grant"
      draft={draft}
      onAct={grant}
      onFailed={({ code }) => code === 'reference_used' && setUsedBefore(reference)}
      onClose={onClose}
    >
      <Field
        label="Credits"
        number="signed"
        required
        {...draft.field('credits')}
        hint="A plain decimal, such as 25 or 0.5; -5 takes 5 back."
      />
      <ReferenceField {...draft.field('reference')} />
      {usedBefore === reference && <Tick required>Grant under this reference again</Tick>}
    </ActDialog>
  )
}
