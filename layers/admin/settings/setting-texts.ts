import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../gateway/domain/basics/time.ts'
import type { SettingKind, SettingWords } from './setting-words.ts'

const FROM_TEXT: Readonly<Record<SettingKind, (text: string, nowMs: number) => unknown>> = {
  text: (text) => text,
  count: (text) => (/^\d+$/.test(text) ? Number(text) : text),
  credits: (text) => text,
  scopes: listIn,
  patterns: listIn,
  ranges: listIn,
  plan: (text) => text,
  moment: momentIn,
  flag: (text) => text !== '',
}

/** A typed text as a value of the admin API, which then validates it; an empty text removes an optional setting. */
export function typedValue({ kind, none }: SettingWords, text: string, nowMs: number): unknown {
  const [trimmed, read] = [text.trim(), FROM_TEXT[kind]]
  return trimmed === '' && none !== undefined && read !== listIn ? null : read(trimmed, nowMs)
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

export function typedText(value: unknown): string {
  if (Array.isArray(value)) return value.join('\n')
  return value === true ? 'yes' : String(value || '')
}

export function shownText({ none = '', remark }: SettingWords, value: unknown): string {
  const text = typedText(value).replaceAll('\n', ', ')
  return remark && Number(value) > 1 ? `${text} (${remark(Number(value))})` : text || none
}
