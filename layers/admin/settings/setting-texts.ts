import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../gateway/domain/basics/time.ts'
import { isOptional, KEY_SETTINGS, type Setting } from '../../gateway/domain/keys/key-settings.ts'
import { SETTING_WORDS, type SettingKind } from './setting-words.ts'

const FROM_TEXT: Readonly<Record<SettingKind, (text: string, nowMs: number) => unknown>> = {
  text: (text) => text,
  count: (text) => (/^\d+$/.test(text) ? Number(text) : text),
  credits: (text) => text,
  scopes: listIn,
  patterns: listIn,
  ranges: listIn,
  moment: momentIn,
}

/** A typed text as a value of the admin API, which then validates it; an empty text removes an optional setting. */
export function typedValue(setting: Setting, text: string, nowMs: number): unknown {
  const trimmed = text.trim()
  return trimmed === '' && isOptional(setting) ? null : FROM_TEXT[SETTING_WORDS[setting].kind](trimmed, nowMs)
}

export function listIn(text: string): string[] {
  return text.split(/[\s,]+/).filter(Boolean)
}

/** A period is counted from now, and a moment without a zone is in UTC. */
function momentIn(text: string, nowMs: number): string | null {
  if (text === 'never') return null
  const periodMs = readPeriod(text)
  if (periodMs !== undefined) return new Date(nowMs + periodMs).toISOString()
  return /T\d{2}:\d{2}(:\d{2})?$/.test(text) ? `${text}Z` : text
}

const UNIT_MS = { m: MINUTE_MS, h: HOUR_MS, d: DAY_MS }

export function readPeriod(text: string): number | undefined {
  const match = /^(\d{1,5})([mhd])$/.exec(text)
  return match ? Number(match[1]) * UNIT_MS[match[2] as keyof typeof UNIT_MS] : undefined
}

export function typedText(setting: Setting, value: unknown): string {
  if (Array.isArray(value)) return value.join('\n')
  const text = String(value ?? '')
  return SETTING_WORDS[setting].kind === 'moment' ? text.slice(0, 19) : text
}

export function shownText(setting: Setting, value: unknown): string {
  const text = Array.isArray(value) ? value.join(', ') : String(value ?? '')
  const { none = '', remark } = SETTING_WORDS[setting]
  return remark && value !== KEY_SETTINGS[setting].default ? `${text} (${remark(Number(value))})` : text || none
}
