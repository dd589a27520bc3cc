import type { CreateKeyBody, KeyShape } from '../../operator/admin-api/shapes/keys.ts'

/** The settings of a key as somebody types them. */
export type Typed = {
  readonly name: string
  readonly external_id: string
  readonly note: string
  readonly expires_at: string
  readonly rpm: string
  readonly daily_limit: string
  readonly max_concurrent: string
  readonly allowlist: string
  readonly scopes: readonly string[]
}

/** Every scope that the gateway has. */
export const SCOPES: readonly string[] = ['chat.completions', 'embeddings', 'models.read']
/** As the gateway's own, to which a test holds these: a scope that is added later is given to nobody by itself. */
export const DEFAULTS: Typed = {
  name: '',
  external_id: '',
  note: '',
  expires_at: '',
  rpm: '60',
  daily_limit: '10000',
  max_concurrent: '200',
  allowlist: '',
  scopes: ['chat.completions', 'models.read'],
}

export function typedOf(key: KeyShape): Typed {
  return {
    name: key.name,
    external_id: key.external_id ?? '',
    note: key.note ?? '',
    expires_at: key.expires_at?.slice(0, 19) ?? '',
    rpm: String(key.rpm),
    daily_limit: String(key.daily_limit),
    max_concurrent: String(key.max_concurrent),
    allowlist: key.allowlist.join('\n'),
    scopes: key.scopes,
  }
}

type Settings = Omit<CreateKeyBody, 'credits' | 'secret_sha256' | 'last_four'>

export function settingsOf(typed: Typed): Settings {
  return {
    name: typed.name.trim(),
    external_id: typed.external_id.trim() || null,
    note: typed.note.trim() || null,
    expires_at: typed.expires_at === '' ? null : new Date(`${typed.expires_at}Z`).toISOString(),
    rpm: Number(typed.rpm),
    daily_limit: Number(typed.daily_limit),
    max_concurrent: Number(typed.max_concurrent),
    allowlist: rangesOf(typed),
    scopes: typed.scopes,
  }
}

/** Only what somebody changed, so that nobody's other change is written over. */
export function changesOf(before: Typed, after: Typed): Partial<Settings> {
  const changed = Object.entries(settingsOf(after)).filter(([name]) => !isSame(before, after, name as keyof Typed))
  return Object.fromEntries(changed)
}

/** What was typed, on top of what another person has changed meanwhile. */
export function rebase(typed: Typed, before: Typed, now: Typed): Typed {
  const names = Object.keys(typed) as (keyof Typed)[]
  return Object.fromEntries(names.map((name) => [name, (isSame(before, typed, name) ? now : typed)[name]])) as Typed
}

function isSame(a: Typed, b: Typed, name: keyof Typed): boolean {
  return String(a[name]) === String(b[name])
}

export function rangesOf({ allowlist }: Typed): string[] {
  return allowlist.split(/[\s,]+/).filter(Boolean)
}
