import type { SettingChanges } from '../../layers/gateway/domain/key-settings.ts'
import { givenSettings } from '../setting-changes.ts'
import { laterThan, momentRule, SETTING_RULES } from '../setting-rules.ts'
import { orNull, type readFields } from './fields.ts'

/** The settings in a body, by the names that the API has for them. */
export function settingFields(nowMs: number) {
  return {
    name: SETTING_RULES.name,
    scopes: SETTING_RULES.scopes,
    allowlist: SETTING_RULES.allowlist,
    rpm: SETTING_RULES.rpm,
    daily_limit: SETTING_RULES.dailyLimit,
    max_concurrent: SETTING_RULES.maxConcurrent,
    external_id: orNull(SETTING_RULES.externalId),
    expires_at: orNull((value) => laterThan(nowMs, momentRule(value))),
    note: orNull(SETTING_RULES.note),
  }
}

type Fields = ReturnType<typeof readFields<ReturnType<typeof settingFields>>>

export function settingsIn(fields: Fields): SettingChanges {
  return givenSettings({
    name: fields.name,
    scopes: fields.scopes,
    allowlist: fields.allowlist,
    rpm: fields.rpm,
    dailyLimit: fields.daily_limit,
    maxConcurrent: fields.max_concurrent,
    externalId: fields.external_id,
    expiresAtMs: fields.expires_at,
    // An empty note is none.
    note: fields.note === '' ? null : fields.note,
  })
}
