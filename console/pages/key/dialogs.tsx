import type { ComponentChildren, VNode } from 'preact'
import { useState } from 'preact/hooks'
import type { List } from '../../../layers/admin/api/shapes/answers.ts'
import type { GrantBody, RotateBody } from '../../../layers/admin/api/shapes/bodies.ts'
import type { EventShape } from '../../../layers/admin/api/shapes/books.ts'
import type { KeyDetail, KeyWithSecret } from '../../../layers/admin/api/shapes/keys.ts'
import { ask, failureFrom, keyPath, post } from '../../api.ts'
import { EventChange } from '../../parts/columns.tsx'
import { announce, Button, Field, Select } from '../../parts/controls.tsx'
import { ActDialog, Sure } from '../../parts/dialog.tsx'
import { KeySettings } from '../../parts/key-settings.tsx'
import { AMOUNT_PATTERN } from '../../parts/numbers.ts'
import { useNewSecret } from '../../parts/secret-dialog.tsx'
import { changesOf, rebase, typedOf } from '../../parts/typed-settings.ts'
import { Moment } from '../../parts/values.tsx'
import { OldUse } from './panels.tsx'

type Props = {
  readonly of: KeyDetail
  readonly onDone: (now: KeyDetail) => void
  readonly onClose: () => void
}

type PlainAct = {
  readonly title: (name: string) => string
  readonly verb: string
  readonly done: (name: string) => string
  readonly isDangerous?: boolean
  readonly isConfirmed?: boolean
  readonly about: (key: KeyDetail) => ComponentChildren
}

/** The server answers these acts, named by the last part of their path, with the key as it is then. */
const PLAIN_ACTS = {
  suspend: {
    title: (name) => `Suspend ${name}?`,
    verb: 'Suspend',
    done: (name) => `${name} is suspended.`,
    isDangerous: true,
    about: () =>
      'Every request with it is refused from the next one on, until you resume it. Requests under way end as usual, and its credits, limits and secrets stay.',
  },
  resume: {
    title: (name) => `Resume ${name}?`,
    verb: 'Resume',
    done: (name) => `${name} is resumed.`,
    about: () => 'Requests with it are admitted again from the next one on.',
  },
  revoke: {
    title: (name) => `Revoke ${name} for good?`,
    verb: 'Revoke for good',
    done: (name) => `${name} is revoked.`,
    isDangerous: true,
    isConfirmed: true,
    about: () => 'Every request with it is refused from now on, and nothing brings the key back.',
  },
  'end-grace': {
    title: (name) => `End the old secret of ${name}?`,
    verb: 'End now',
    done: (name) => `The old secret of ${name} has ended.`,
    isDangerous: true,
    about: (key) => (
      <>
        <OldUse of={key} /> Who uses it is refused from the next request on.
      </>
    ),
  },
} as const satisfies Readonly<Record<string, PlainAct>>

const FORMS = { edit: EditKey, grant: GrantCredits, rotate: RotateKey }

export type ActName = keyof typeof PLAIN_ACTS | keyof typeof FORMS

/** A dialog works on the key as it was when the dialog opened, even if the page learns of changes meanwhile. */
export function KeyDialog({ act, of: now, ...rest }: Props & { readonly act: ActName }): VNode {
  const [key] = useState(now)
  if (Object.hasOwn(PLAIN_ACTS, act)) return <Plain act={act as keyof typeof PLAIN_ACTS} of={key} {...rest} />
  const Form = FORMS[act as keyof typeof FORMS]
  return <Form of={key} {...rest} />
}

function Plain({ act, of: key, onDone, onClose }: Props & { readonly act: keyof typeof PLAIN_ACTS }) {
  const { title, done, isConfirmed, about, ...shown }: PlainAct = PLAIN_ACTS[act]
  const [confirm, setConfirm] = useState('')
  const send = async (idempotencyKey: string) => {
    const now = await post<KeyDetail>(`${keyPath(key.id)}/${act}`, idempotencyKey, isConfirmed ? { confirm } : {})
    announce(done(key.name))
    onDone(now)
  }
  const isReady = !isConfirmed || confirm === key.name
  return (
    <ActDialog {...shown} title={title(key.name)} isReady={isReady} onAct={send} onClose={onClose}>
      <p>{about(key)}</p>
      {isConfirmed && (
        <Field label={`Type its name, ${key.name}, to go on`} value={confirm} onInput={setConfirm} required />
      )}
    </ActDialog>
  )
}

function EditKey({ of: opened, onDone, onClose }: Props) {
  const [key, setKey] = useState(opened)
  const [typed, setTyped] = useState(() => typedOf(opened))
  const [others, setOthers] = useState<readonly EventShape[]>([])
  const path = keyPath(key.id)
  const body = changesOf(typedOf(key), typed)

  /** Takes over the changes of others, and keeps the typed ones. */
  const meet = async () => {
    const [now, events] = await Promise.all([ask<KeyDetail>(path), ask<List<EventShape>>(`${path}/events?limit=20`)])
    setOthers(events.data.slice(0, Math.max(1, now.version - key.version)))
    setTyped(rebase(typed, typedOf(key), typedOf(now)))
    setKey(now)
  }
  const save = async () => {
    const headers = { 'If-Match': `"${key.version}"` }
    const now = await ask<KeyDetail>(path, { method: 'PATCH', body, headers }).catch(async (error) => {
      if (failureFrom(error).status === 412) await meet()
      throw error
    })
    announce(`The settings of ${now.name} were changed.`)
    onDone(now)
  }
  const isChanged = Object.keys(body).length > 0
  return (
    <ActDialog title={`Settings of ${opened.name}`} verb="Save" isReady={isChanged} onAct={save} onClose={onClose}>
      {others.length > 0 && (
        <section class="notice warn" aria-label="Changed meanwhile">
          <p>The key was changed meanwhile. Nothing of what you typed is lost: look, then save again.</p>
          <ul class="plain">
            {others.map((event) => (
              <li key={event.id}>
                <strong>{event.by}</strong>, <Moment at={event.at} />
                <EventChange event={event} />
              </li>
            ))}
          </ul>
        </section>
      )}
      <KeySettings typed={typed} onChange={setTyped} />
    </ActDialog>
  )
}

function GrantCredits({ of: key, onDone, onClose }: Props) {
  const [credits, setCredits] = useState('')
  const [reference, setReference] = useState('')
  const [usedBefore, setUsedBefore] = useState<string>()
  const grant = async (idempotencyKey: string) => {
    const path = keyPath(key.id)
    const body: GrantBody = {
      credits: credits.trim(),
      ...(reference && { reference }),
      ...(usedBefore === reference && { again: true }),
    }
    await post(`${path}/grants`, idempotencyKey, body).catch((error) => {
      if (failureFrom(error).code === 'reference_used') setUsedBefore(reference)
      throw error
    })
    const now = await ask<KeyDetail>(path)
    announce(`Granted. ${key.name} has ${now.available} credits available.`)
    onDone(now)
  }
  return (
    <ActDialog title={`Grant credits to ${key.name}`} verb="Grant" onAct={grant} onClose={onClose}>
      <Field
        label="Credits"
        value={credits}
        onInput={setCredits}
        pattern={`-?${AMOUNT_PATTERN}`}
        required
        hint="A plain decimal, such as 25 or 0.5; -5 takes 5 back."
      />
      <Field
        label="Reference"
        value={reference}
        onInput={setReference}
        maxLength={200}
        hint="The payment, such as an invoice."
      />
      {usedBefore === reference && <Sure>Grant under this reference again</Sure>}
    </ActDialog>
  )
}

const GRACES = [
  ['3600', 'for an hour'],
  ['900', 'for 15 minutes'],
  ['60', 'for a minute'],
  ['0', 'not at all: it ends now'],
] as const

function RotateKey({ of: key, onDone, onClose }: Props) {
  const [grace, setGrace] = useState('3600')
  const withSecret = useNewSecret()
  const rotate = (idempotencyKey: string) =>
    withSecret(async (told) => {
      const body: RotateBody = { grace_seconds: Number(grace), ...told }
      const now = await post<KeyWithSecret>(`${keyPath(key.id)}/rotate`, idempotencyKey, body)
      onDone(now)
      announce(`${key.name} has a new secret.`)
      return now
    })
  const label = `The old one (…${key.last_four}) goes on working`
  return (
    <ActDialog title={`Rotate ${key.name}`} verb="Rotate" onAct={rotate} onClose={onClose}>
      <p>The key gets a new secret, which is shown once.</p>
      <Select label={label} value={grace} onChange={setGrace} options={GRACES} />
      {key.previous && (
        <p class="notice warn">
          The secret before it (…{key.previous.last_four}) is still in its grace period. It ends with this rotation.
        </p>
      )}
    </ActDialog>
  )
}

export function KeyActions({ of, onOpen }: { readonly of: KeyDetail; readonly onOpen: (act: ActName) => void }) {
  const buttons: readonly (readonly [ActName, string, string?])[] = [
    ['grant', 'Grant credits', 'primary'],
    ['edit', 'Change settings'],
    ['rotate', 'Rotate'],
    of.status === 'suspended' ? ['resume', 'Resume'] : ['suspend', 'Suspend'],
    ['revoke', 'Revoke', 'danger'],
  ]
  return buttons.map(([act, text, kind = '']) => (
    <Button key={act} class={kind} onClick={() => onOpen(act)}>
      {text}
    </Button>
  ))
}
