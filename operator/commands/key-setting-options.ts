import type { Command } from 'commander'
import type { KeySettings, SettingChanges } from '../../layers/gateway/domain/key.ts'
import { SCOPES } from '../../layers/gateway/endpoints.ts'
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
import { CliError } from '../cli-error.ts'
import { givenSettings } from '../setting-changes.ts'
import { laterThan } from '../setting-rules.ts'

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
export type SettingOptions = Pick<SettingChanges, 'name' | 'scopes' | 'rpm'> & {
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

export function settingsOf(options: SettingOptions, nowMs: number): SettingChanges {
  const { name, scopes, rpm, allow: allowlist, daily: dailyLimit, concurrent: maxConcurrent } = options
  const expiresAtMs = options.expires && endMs(options.expires, nowMs)
  const [externalId, note] = [orNull(options.externalId), orNull(options.note)]
  return givenSettings({ name, scopes, allowlist, rpm, dailyLimit, maxConcurrent, externalId, expiresAtMs, note })
}

/** An empty text takes a setting away. */
function orNull(text: string | undefined): string | null | undefined {
  return text === '' ? null : text
}

function endMs(end: End, nowMs: number): number | null {
  if (end === 'never') return null
  try {
    return laterThan(nowMs, 'inMs' in end ? nowMs + end.inMs : end.atMs)
  } catch (error) {
    throw new CliError(`--expires ${(error as Error).message} 'keys revoke' ends a key at once.`)
  }
}
