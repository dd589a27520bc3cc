import { useState } from 'preact/hooks'
import type { List } from '../../../layers/admin/api/shapes/answers.ts'
import type { GrantBody, RotateBody } from '../../../layers/admin/api/shapes/bodies.ts'
import type { EventShape } from '../../../layers/admin/api/shapes/books.ts'
import type { KeyDetail, KeyWithSecret } from '../../../layers/admin/api/shapes/keys.ts'
import { ApiFailure, ask, failureFrom, keyPath, post } from '../../api.ts'
import { EventChange } from '../../parts/columns.tsx'
import { AMOUNT_PATTERN, announce, Field, Select } from '../../parts/controls.tsx'
import { ActDialog, type DialogProps } from '../../parts/dialog.tsx'
import { KeySettings } from '../../parts/key-settings.tsx'
import { useNewSecret } from '../../parts/secret-dialog.tsx'
import { changesOf, rebase, typedOf } from '../../parts/typed-settings.ts'
import { Moment } from '../../parts/values.tsx'

export function EditKey({ of: opened, onDone, onClose }: DialogProps<KeyDetail>) {
  const [key, setKey] = useState(opened)
  const [typed, setTyped] = useState(() => typedOf(opened))
  const [others, setOthers] = useState<readonly EventShape[]>([])
  const path = keyPath(key.id)

  /** Takes over the changes of others, and keeps the typed ones. */
  const meet = async () => {
    const [now, events] = await Promise.all([ask<KeyDetail>(path), ask<List<EventShape>>(`${path}/events?limit=20`)])
    setOthers(events.data.slice(0, Math.max(1, now.version - key.version)))
    setTyped(rebase(typed, typedOf(key), typedOf(now)))
    setKey(now)
  }
  const save = async () => {
    try {
      const now = await ask<KeyDetail>(path, {
        method: 'PATCH',
        body: changesOf(typedOf(key), typed),
        headers: { 'If-Match': `"${key.version}"` },
      })
      announce(`The settings of ${now.name} were changed.`)
      onDone(now)
    } catch (error) {
      if (error instanceof ApiFailure && error.status === 412) await meet()
      throw error
    }
  }
  const isChanged = Object.keys(changesOf(typedOf(key), typed)).length > 0
  return (
    <ActDialog title={`Settings of ${opened.name}`} verb="Save" isReady={isChanged} onAct={save} onClose={onClose}>
      {others.length > 0 && <Others events={others} />}
      <KeySettings typed={typed} onChange={setTyped} />
    </ActDialog>
  )
}

function Others({ events }: { readonly events: readonly EventShape[] }) {
  return (
    <section class="notice warn" aria-label="Changed meanwhile">
      <p>The key was changed meanwhile. Nothing of what you typed is lost: look, then save again.</p>
      <ul class="plain">
        {events.map((event) => (
          <li key={event.id}>
            <strong>{event.by}</strong>, <Moment at={event.at} />
            <EventChange event={event} />
          </li>
        ))}
      </ul>
    </section>
  )
}

export function GrantCredits({ of: key, onDone, onClose }: DialogProps<KeyDetail>) {
  const [credits, setCredits] = useState('')
  const [reference, setReference] = useState('')
  /** The reference that was used before. */
  const [used, setUsed] = useState<string>()
  const grant = async (idempotencyKey: string) => {
    const path = keyPath(key.id)
    const body: GrantBody = {
      credits: credits.trim(),
      ...(reference && { reference }),
      ...(used === reference && { again: true }),
    }
    await post(`${path}/grants`, idempotencyKey, body).catch((error) => {
      if (failureFrom(error).code === 'reference_used') setUsed(reference)
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
      {used === reference && (
        <label class="sure">
          <input type="checkbox" required /> Grant under this reference again
        </label>
      )}
    </ActDialog>
  )
}

const GRACES = [
  ['3600', 'for an hour'],
  ['900', 'for 15 minutes'],
  ['60', 'for a minute'],
  ['0', 'not at all: it ends now'],
] as const

export function RotateKey({ of: key, onDone, onClose }: DialogProps<KeyDetail>) {
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
  return (
    <ActDialog title={`Rotate ${key.name}`} verb="Rotate" onAct={rotate} onClose={onClose}>
      <p>The key gets a new secret, which is shown once.</p>
      <Select
        label={`The old one (…${key.last_four}) goes on working`}
        value={grace}
        onChange={setGrace}
        options={GRACES}
      />
      {key.previous && (
        <p class="notice warn">
          The secret before it (…{key.previous.last_four}) is still in its grace period. It ends with this rotation.
        </p>
      )}
    </ActDialog>
  )
}
