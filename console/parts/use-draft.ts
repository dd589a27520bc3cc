import { useEffect, useState } from 'preact/hooks'
import { keyShapes } from '../../layers/gateway/domain/keys/secret-text.ts'
import { identityHere } from '../session.ts'
import type { Typed } from './typed-settings.ts'

export type Draft = Pick<ReturnType<typeof useDraft>, 'isOld' | 'lost' | 'forget' | 'release' | 'keep'>

/** Stands in the storage where a secret was typed: a draft with it is not what was typed, and must not be sent. */
export const BLANK = '‹write the secret anew›'

/** Kept when the page is left or reloaded, or its dialog closed. In `localStorage` all tabs have the same; null keeps nothing. */
export function useDraft<T extends Typed>(name: string, fresh: T, storage: Storage | null = sessionStorage) {
  const place = `waybill.draft ${identityHere().base_url} ${name}`
  const [text, setText] = useState(() => storage?.getItem(place))
  const [isOld, setOld] = useState(Boolean(text))
  useEffect(() => {
    const heard = ({ key, newValue }: StorageEvent) => key === place && setText(newValue)
    addEventListener('storage', heard)
    return () => removeEventListener('storage', heard)
  }, [place])
  const typed: T = { ...fresh, ...JSON.parse(text || '{}') }
  /** It stays on the page, but does not come back. */
  const release = () => storage?.removeItem(place)
  const forget = () => {
    setText(null)
    setOld(false)
    release()
  }
  const set = (now: T) => {
    const next = JSON.stringify(now)
    if (next === JSON.stringify(fresh)) return forget()
    setText(next)
    storage?.setItem(place, JSON.stringify(now, withoutSecret))
  }
  const field = (name: keyof T & string) => ({
    name,
    value: typed[name] ?? '',
    onInput: (value: string) => set({ ...typed, [name]: value }),
  })
  const lost = text?.includes(BLANK) ? BLANK : undefined
  return { typed, lost, field, set, isTouched: Boolean(text), isOld, forget, release, keep: () => set(typed) }
}

/** A catalog has names of secrets, in place of which somebody may have typed the secret. */
const NAMED = /("[^"\n]*(?:key|token|secret|password|authorization|cookie)"\s*:\s*")(?!env:|secret:)(?:\\.|[^"\\\n])+/gi

/** Names begin like keys, too: `xai-grok-4`. A key is not of short words in small letters. */
const RANDOM = /[A-Z]|\w{12}/

function withoutSecret(_: string, value: unknown): unknown {
  if (typeof value !== 'string') return value
  return value.replace(NAMED, `$1${BLANK}`).replace(keyShapes(), (shape) => (RANDOM.test(shape) ? BLANK : shape))
}
