import type { KeyShape } from '../../../layers/admin/api/shapes/keys.ts'
import { csvOf, disarm } from '../../parts/csv.ts'

const FIELDS = [
  'id',
  'name',
  'external_id',
  'status',
  'last_four',
  'granted',
  'available',
  'held',
  'spent',
  'rpm',
  'daily_limit',
  'max_concurrent',
  'requests_today',
  'last_used_at',
  'expires_at',
  'created_at',
  'note',
] as const satisfies readonly (keyof KeyShape)[]

/** Amounts as the server tells them. */
export function keysCsv(keys: readonly KeyShape[]): string {
  return csvOf([FIELDS, ...keys.map((key) => FIELDS.map((field) => cellOf(key[field])))])
}

/** A balance may be below zero, and is no formula. */
function cellOf(value: string | number | null): string {
  const text = String(value ?? '')
  return /^-?[\d.]+$/.test(text) ? text : disarm(text)
}
