import type { Command } from 'commander'
import type { KeySettings } from '../../layers/gateway/domain/key-settings.ts'
import { SCOPES } from '../../layers/gateway/endpoints.ts'
import type { UpdateKeyBody } from '../admin-api/shapes/keys.ts'
import {
  cidrList,
  type End,
  externalId,
  keyEnd,
  note,
  requestsAtOnce,
  requestsPerDay,
  requestsPerMinute,
  scopeList,
} from '../arguments.ts'

/** The options of `create` and `update`, by the settings that they give. */
export const SETTING_OPTIONS = {
  name: 'name',
  scopes: 'scopes',
  allowlist: 'allow',
  rpm: 'rpm',
  dailyLimit: 'daily',
  maxConcurrent: 'concurrent',
  externalId: 'external-id',
  expiresAtMs: 'expires',
  note: 'note',
} as const satisfies Record<keyof KeySettings, string>

/** As commander hands them over. */
export type SettingOptions = Pick<UpdateKeyBody, 'name' | 'scopes' | 'rpm'> & {
  readonly allow?: readonly string[]
  readonly daily?: number
  readonly concurrent?: number
  readonly expires?: End
  readonly externalId?: string
  readonly note?: string
}

export function settingOptions(command: Command): Command {
  return command
    .option('--scopes <list>', `endpoints it may call: ${SCOPES.join(',')}`, scopeList)
    .option('--rpm <n>', 'requests per minute', requestsPerMinute)
    .option('--daily <n>', 'requests per UTC day', requestsPerDay)
    .option('--concurrent <n>', 'requests under way at once', requestsAtOnce)
    .option('--allow <list>', 'addresses it may be used from, as CIDR ranges; empty for every address', cidrList)
    .option('--external-id <id>', 'your own id of who it is for, which no other key has; empty for none', externalId)
    .option('--expires <when>', "a UTC day, a moment, or a period from now; 'never' for no end", keyEnd)
    .option('--note <text>', 'for people; empty for none', note)
}

/** As the admin API takes them. */
export function settingsOf(options: SettingOptions, nowMs: number): UpdateKeyBody {
  return givenFields({
    name: options.name,
    scopes: options.scopes,
    allowlist: options.allow,
    rpm: options.rpm,
    daily_limit: options.daily,
    max_concurrent: options.concurrent,
    external_id: orNull(options.externalId),
    expires_at: options.expires && endOf(options.expires, nowMs),
    note: orNull(options.note),
  })
}

function givenFields(fields: Readonly<Record<keyof UpdateKeyBody, unknown>>): UpdateKeyBody {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}

/** An empty text takes a setting away. */
function orNull(text: string | undefined): string | null | undefined {
  return text === '' ? null : text
}

function endOf(end: End, nowMs: number): string | null {
  if (end === 'never') return null
  return new Date('inMs' in end ? nowMs + end.inMs : end.atMs).toISOString()
}
