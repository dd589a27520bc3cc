import { useState } from 'preact/hooks'
import type { List } from '../../../layers/admin/api/shapes/answers.ts'
import type { EventShape } from '../../../layers/admin/api/shapes/books.ts'
import type { KeyDetail } from '../../../layers/admin/api/shapes/keys.ts'
import { ApiFailure, ask, keyPath } from '../../api.ts'
import { ActDialog, type DialogProps } from '../../parts/act-dialog.tsx'
import { announce } from '../../parts/announce.tsx'
import { EventChange } from '../../parts/events.tsx'
import { KeySettings } from '../../parts/key-settings.tsx'
import { Moment } from '../../parts/moment.tsx'
import { changesOf, rebase, typedOf } from '../../parts/typed-settings.ts'

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
