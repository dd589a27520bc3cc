import { useRef, useState } from 'preact/hooks'
import type { AccountShape } from '../../../layers/admin/api/shapes/accounts.ts'
import type { CreateKeyBody } from '../../../layers/admin/api/shapes/bodies.ts'
import type { KeyShape, KeyWithSecret } from '../../../layers/admin/api/shapes/keys.ts'
import { failureFrom, pathOf, post } from '../../api.ts'
import { announce, Field } from '../../parts/controls.tsx'
import { ActDialog, useNewSecret } from '../../parts/dialog.tsx'
import { NamePicker } from '../../parts/filters.tsx'
import { countOf } from '../../parts/numbers.ts'
import { Lines } from '../../parts/page.tsx'
import { SettingsForm } from '../../parts/settings-form.tsx'
import { DEFAULTS, keyForm, settingsOf, type Typed } from '../../parts/typed-settings.ts'
import { useDraft } from '../../parts/use-draft.ts'
import { isRefused } from '../../parts/use-load.ts'
import { titleOf } from '../../router.ts'

const ACTS = {
  grant: '',
  suspend: 'Every request with them is refused from the next one on, until you resume them.',
  resume: 'Requests with them are admitted again from the next one on.',
  revoke: 'Every request with them is refused from now on, and nothing brings them back.',
}
const SO: Partial<Record<Act, KeyShape['status']>> = { suspend: 'suspended', resume: 'active' }

export type Act = keyof typeof ACTS
export const ACT_NAMES = Object.keys(ACTS) as Act[]

type Props = {
  readonly act: Act
  readonly keys: readonly KeyShape[]
  readonly onChanged: () => void
  readonly onClose: () => void
}

type Result = { readonly isDone: boolean; readonly text: string }

export function BulkAct({ act, keys, onChanged, onClose }: Props) {
  const [isGrant, isFinal] = [act === 'grant', act === 'revoke']
  const done = act.replace(/e?$/, 'ed')
  // The words of a revocation are typed anew each time.
  const draft = useDraft('bulk grant', { credits: '' }, isGrant ? sessionStorage : null)
  const typed = draft.typed.credits
  const [results, setResults] = useState<ReadonlyMap<string, Result>>(new Map())
  const idempotencyKeys = useRef(new Map<string, string>())
  const count = countOf(keys.length, 'key')
  const isOver = [...results.values()].filter(({ isDone }) => isDone).length === keys.length

  const doOne = async (key: KeyShape): Promise<Result> => {
    if (key.status === SO[act]) return { isDone: true, text: `was ${key.status} before` }
    const idempotencyKey = idempotencyKeys.current.get(key.id) ?? crypto.randomUUID()
    idempotencyKeys.current.set(key.id, idempotencyKey)
    try {
      const body = isGrant ? { credits: typed.trim() } : isFinal ? { confirm: key.name } : {}
      await post(`${pathOf(key.id)}/${isGrant ? 'grants' : act}`, idempotencyKey, body)
      return { isDone: true, text: isGrant ? `${typed.trim()} granted` : done }
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
    announce(`${titleOf(done)}: ${keys.length - failed} of ${count}.`)
    if (failed > 0)
      throw new Error(`${failed} of ${count} failed. Trying again asks only for those, and does each once.`)
  }
  return (
    <ActDialog
      title={isGrant ? `Grant credits to ${count}` : `${titleOf(act)} ${count}${isFinal ? ' for good' : ''}?`}
      verb={isGrant ? `Grant to ${count}` : `${titleOf(act)} ${isFinal ? 'for good' : count}`}
      isDangerous={isFinal || act === 'suspend'}
      isReady={!isFinal || typed === `revoke ${keys.length}`}
      isRepeatable
      isOver={isOver}
      draft={draft}
      onAct={doAll}
      onClose={onClose}
    >
      {!isOver && <p>{ACTS[act]}</p>}
      {results.size === 0 && <p class="quiet">{keys.map(({ name }) => name).join(', ')}</p>}
      <div aria-live="polite">
        {results.size > 0 && <Lines of={keys.map(({ id, name }) => outcome(name, results.get(id)))} />}
      </div>
      {/* The amount of a grant whose answer was lost must stay. */}
      {!isOver && (isGrant || isFinal) && (
        <Field
          label={isGrant ? 'Credits for each' : `Type revoke ${keys.length} to go on`}
          number={isGrant ? 'credits' : undefined}
          {...draft.field('credits')}
          required
          disabled={results.size > 0}
        />
      )}
    </ActDialog>
  )
}

function outcome(name: string, { isDone, text }: Partial<Result> = {}) {
  const kind = text ? (isDone ? 'good-text' : 'bad-text') : 'quiet'
  return [<strong>{name}</strong>, ' ', <span class={kind}>{text ?? 'waiting'}</span>]
}

type CreateProps = {
  /** The customer whose balance it uses; without one that may be chosen. */
  readonly account?: AccountShape
  readonly onCreated: () => void
  readonly onClose: () => void
}

export function CreateKey({ account: fixed, onCreated, onClose }: CreateProps) {
  const fresh = { ...DEFAULTS, credits: '0', account: fixed?.id ?? '', account_name: fixed?.name ?? '' }
  const draft = useDraft<typeof fresh & Typed>(`key ${fixed?.id}`, fresh)
  const { typed, set } = draft
  const { credits, account, account_name } = typed
  const form = keyForm(account)
  const withSecret = useNewSecret()
  const create = (idempotencyKey: string) =>
    withSecret(async (told) => {
      const whose = account ? { account } : { credits: credits.trim() }
      const body: CreateKeyBody = { ...settingsOf(typed, form), ...whose, ...told }
      const key = await post<KeyWithSecret>('/keys', idempotencyKey, body)
      onClose()
      onCreated()
      announce(`The key ${key.name} was made.`)
      return key
    })
  return (
    <ActDialog
      title={fixed ? `Create a key for ${fixed.name}` : 'Create a key'}
      verb="Create"
      draft={draft}
      onAct={create}
      onClose={onClose}
    >
      <SettingsForm form={form} typed={typed} onChange={(now) => set({ ...typed, ...now })}>
        {!fixed && (
          <NamePicker
            filter="account"
            value={account_name}
            onChoose={(one) => set({ ...typed, account: one?.id ?? '', account_name: one?.name ?? '' })}
            isOffered={({ status }) => status !== 'closed'}
          />
        )}
        {account && <p class="quiet">It uses the balance of {account_name}.</p>}
        {!account && <Field label="Credits to begin with" number="credits" required {...draft.field('credits')} />}
      </SettingsForm>
    </ActDialog>
  )
}
