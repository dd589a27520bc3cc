import type { KeySettings, SettingChanges } from '../layers/gateway/domain/key-settings.ts'

/** The settings that were given; null is one that is to be taken away. */
export function givenSettings(settings: Record<keyof KeySettings, unknown>): SettingChanges {
  return without(settings, undefined)
}

/** A new key has nothing to take away. */
export function withoutNulls(settings: SettingChanges): Partial<KeySettings> {
  return without(settings, null)
}

function without(settings: object, gone: null | undefined): object {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== gone))
}
