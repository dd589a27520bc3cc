import { useRef, useState } from 'preact/hooks'
import type { CreateKeyBody, GrantBody, RevokeBody } from '../../../layers/admin/api/shapes/bodies.ts'
import type { KeyShape, KeyWithSecret } from '../../../layers/admin/api/shapes/keys.ts'
import { failureFrom, keyPath, post } from '../../api.ts'
import { AmountField, announce, Field } from '../../parts/controls.tsx'
import { ActDialog, isRefused } from '../../parts/dialog.tsx'
import { KeySettings } from '../../parts/key-settings.tsx'
import { countOf } from '../../parts/numbers.ts'
import { useNewSecret } from '../../parts/secret-dialog.tsx'
import { DEFAULTS, settingsOf } from '../../parts/typed-settings.ts'

export type Act = 'grant' | 'revoke'

type Props = {
  readonly act: Act
  readonly keys: readonly KeyShape[]
  readonly onChanged: () => void
  readonly onClose: () => void
}

type Result = { readonly isDone: boolean; readonly text: string }

/** One act on several keys: asked once, done one after the other, and told key by key. */
export function BulkAct({ act, keys, onChanged, onClose }: Props) {
  const [typed, setTyped] = useState('')
  const [results, setResults] = useState<ReadonlyMap<string, Result>>(new Map())
  const idempotencyKeys = useRef(new Map<string, string>())
  const count = countOf(keys.length, 'key')
  const done = [...results.values()].filter(({ isDone }) => isDone).length
  const isOver = done === keys.length

  const doOne = async (key: KeyShape): Promise<Result> => {
    const idempotencyKey = idempotencyKeys.current.get(key.id) ?? crypto.randomUUID()
    idempotencyKeys.current.set(key.id, idempotencyKey)
    try {
      const [path, body] = sentOf(act, key, typed)
      await post(`${keyPath(key.id)}/${path}`, idempotencyKey, body)
      return { isDone: true, text: act === 'grant' ? `${typed.trim()} granted` : 'revoked' }
    } catch (error) {
      const failure = failureFrom(error)
      if (isRefused(failure)) idempotencyKeys.current.delete(key.id)
      return { isDone: false, text: failure.isOutcomeUnknown ? `not known: ${failure.message}` : failure.message }
    }
  }
  const doAll = async () => {
    const now = new Map(results)
    for (const key of keys) {
      if (now.get(key.id)?.isDone) continue
      now.set(key.id, await doOne(key))
      setResults(new Map(now))
    }
    onChanged()
    const failed = [...now.values()].filter(({ isDone }) => !isDone).length
    announce(`${keys.length - failed} of ${count} ${act === 'grant' ? 'got credits' : 'are revoked'}.`)
    if (failed > 0)
      throw new Error(`${failed} of ${count} failed. Trying again asks only for those, and does each once.`)
  }
  return (
    <ActDialog
      title={act === 'grant' ? `Grant credits to ${count}` : `Revoke ${count} for good?`}
      verb={act === 'grant' ? `Grant to ${count}` : 'Revoke for good'}
      isDangerous={act === 'revoke'}
      isReady={act === 'grant' || typed === `revoke ${keys.length}`}
      isRepeatable
      isOver={isOver}
      onAct={doAll}
      onClose={onClose}
    >
      {act === 'revoke' && !isOver && (
        <p>Every request with them is refused from now on, and nothing brings them back.</p>
      )}
      {results.size === 0 ? (
        <p class="quiet">{keys.map(({ name }) => name).join(', ')}</p>
      ) : (
        <Outcome of={keys} results={results} />
      )}
      {!isOver &&
        (act === 'grant' ? (
          <AmountField
            label="Credits for each"
            value={typed}
            onInput={setTyped}
            // The amount of a grant whose answer was lost must stay.
            disabled={results.size > 0}
          />
        ) : (
          <Field label={`Type revoke ${keys.length} to go on`} value={typed} onInput={setTyped} required />
        ))}
    </ActDialog>
  )
}

function sentOf(act: Act, key: KeyShape, typed: string): [string, GrantBody | RevokeBody] {
  return act === 'grant' ? ['grants', { credits: typed.trim() }] : ['revoke', { confirm: key.name }]
}

type OutcomeProps = { readonly of: readonly KeyShape[]; readonly results: ReadonlyMap<string, Result> }

function Outcome({ of: keys, results }: OutcomeProps) {
  return (
    <ul class="plain" aria-live="polite">
      {keys.map(({ id, name }) => {
        const result = results.get(id)
        return (
          <li key={id}>
            <strong>{name}</strong>{' '}
            <span class={result ? (result.isDone ? 'good-text' : 'bad-text') : 'quiet'}>
              {result?.text ?? 'waiting'}
            </span>
          </li>
        )
      })}
    </ul>
  )
}

export function CreateKey({ onDone, onClose }: { readonly onDone: () => void; readonly onClose: () => void }) {
  const [typed, setTyped] = useState(DEFAULTS)
  const [credits, setCredits] = useState('0')
  const withSecret = useNewSecret()
  const create = (idempotencyKey: string) =>
    withSecret(async (told) => {
      const body: CreateKeyBody = { ...settingsOf(typed), credits: credits.trim(), ...told }
      const key = await post<KeyWithSecret>('/keys', idempotencyKey, body)
      onDone()
      announce(`The key ${key.name} was made.`)
      return key
    })
  return (
    <ActDialog title="Create a key" verb="Create" onAct={create} onClose={onClose}>
      <KeySettings typed={typed} onChange={setTyped} />
      <AmountField label="Credits to begin with" value={credits} onInput={setCredits} />
    </ActDialog>
  )
}
