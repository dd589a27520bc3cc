import { InvalidArgumentError, Option } from 'commander'
import type { z } from 'zod'
import type { UpdateKeyBody } from '../../layers/admin/api/shapes/bodies.ts'
import * as rules from '../../layers/admin/settings/rules.ts'
import { someCidrs as cidrs, SETTING_FIELDS, SETTING_OPTIONS } from '../../layers/admin/settings/setting-fields.ts'
import { listIn, readPeriod, shownText, typedValue } from '../../layers/admin/settings/setting-texts.ts'
import { ASKED_SETTINGS, SETTING_WORDS, type SettingKind } from '../../layers/admin/settings/setting-words.ts'
import { ADMIN_SCOPES } from '../../layers/gateway/domain/keys/admin-scopes.ts'
import { isOptional, KEY_SETTINGS } from '../../layers/gateway/domain/keys/key-settings.ts'
import { MOST_REFERENCE_CHARS } from '../../layers/gateway/domain/keys/reference.ts'
import { parseDecimal } from '../../layers/gateway/domain/money/money.ts'
import { SCOPES } from '../../layers/gateway/endpoints.ts'

// Each parses one argument, or tells the fault, the value and a valid form.

export function wholeNumber(least: number, most: number): (text: string) => number {
  return argument(rules.wholeNumber(least, most), (text) => (/^\d+$/.test(text) ? Number(text) : text))
}

export const credits = argument(rules.credits)
export const grantedCredits = argument(rules.grantedCredits)
export const reference = argument(rules.line(1, MOST_REFERENCE_CHARS))
export const keyName = argument(SETTING_FIELDS.name)
export const adminScopeList = argument(rules.someOf(ADMIN_SCOPES), listIn)
export const someCidrs = argument(cidrs, listIn)
/** An empty id would find nothing in a search. */
export const someExternalId = argument(SETTING_FIELDS.external_id.unwrap())

/** A UTC day, which stands for its first moment, or a moment, in milliseconds. */
export const moment = argument(rules.moment)

/** An argument that no rule of the admin API is for. A text that cannot be read is refused with these words. */
export function mustBe<T>(words: string, read: (text: string) => T | undefined): (text: string) => T {
  return (text) => {
    const value = read(text)
    if (value !== undefined) return value
    throw new InvalidArgumentError(`It must be ${words}.`)
  }
}

export const period = mustBe('a period such as 30m, 24h or 7d', readPeriod)

/** In hundredths of a percent. */
export function percentage(most: number): (text: string) => bigint {
  return mustBe(`a percentage from 0 to ${most} with at most 2 decimals, such as 20 or 0.5`, (text) => {
    const read = text.length <= 10 ? parseDecimal(text, 2) : undefined
    return read !== undefined && read <= BigInt(most) * 100n ? read : undefined
  })
}

/** The text itself, if its value keeps the rule. */
export function checkedBy(rule: z.ZodType, valueIn: (text: string) => unknown, also = ''): (text: string) => string {
  const check = argument(rule, valueIn, also)
  return (text) => {
    check(text.trim())
    return text.trim()
  }
}

export function option(flags: string, words: string, read?: (text: string) => unknown, usual?: unknown): Option {
  const made = new Option(flags, words)
  if (read) made.argParser(read)
  return usual === undefined ? made : made.default(usual)
}

/** As commander tells a default; this one is not sent. */
export const usually = (words: string, value: string) => `${words} (default: ${value})`

export function required(...row: Parameters<typeof option>): Option {
  return option(...row).makeOptionMandatory()
}

/** An option that may be given more than once. */
export function upTo(most: number, things: string): (text: string, before?: readonly string[]) => readonly string[] {
  return (text, before = []) => {
    if (before.length < most) return [...before, text]
    throw new InvalidArgumentError(`There may be at most ${most} ${things}.`)
  }
}

/** The admin API's rule, with a message for the command line. */
export function argument<T>(rule: z.ZodType<T>, valueIn = (text: string): unknown => text, also = '') {
  return (text: string): T => {
    const { data, error } = rule.safeParse(valueIn(text))
    if (!error) return data
    throw new InvalidArgumentError(`It ${error.issues[0]?.message}${also}`)
  }
}

/** Commander's options: texts, by the names of the options. */
export type SettingOptions = Readonly<Record<string, unknown>>

/** A field of a body that an option gives. The end of a period is known only when the command runs. */
export type SettingOption = {
  readonly field: string
  readonly option: Option
  /** Names the setting when it was changed, with its values as people read them. */
  readonly name: string
  readonly shown: (value: unknown) => string
  readonly valueIn: (text: string, nowMs: number) => unknown
}

const HELP: Partial<Record<SettingKind, string>> = {
  scopes: `: ${SCOPES.join(',')}`,
  moment: ", or a period from now such as 30d, or 'never'",
}
const ALSO: Partial<Record<SettingKind, string>> = { moment: " Here also a period such as 30d, or 'never'." }

export function keySettings(isNew: boolean): SettingOption[] {
  return ASKED_SETTINGS.map((setting) => {
    const { option: name, argument: value, words } = SETTING_OPTIONS[setting]
    const row = SETTING_WORDS[setting]
    const { field, kind, none } = row
    const help = `${words}${HELP[kind] ?? ''}${isOptional(setting) ? `; empty for ${none}` : ''}`
    const valueIn = (text: string, nowMs: number) => typedValue(row, text, nowMs)
    const check = checkedBy(SETTING_FIELDS[field], (text) => valueIn(text, 0), ALSO[kind])
    const { default: first } = KEY_SETTINGS[setting]
    const isGiven = isNew && first !== 'chosen'
    const made = option(`--${name} <${value}>`, isGiven ? usually(help, shownText(row, first)) : help, check)
    made.makeOptionMandatory(isNew && !isGiven)
    return { field, option: made, name, shown: (now) => shownText(row, now), valueIn }
  })
}

export function settingsOf(settings: readonly SettingOption[], options: SettingOptions, nowMs: number): UpdateKeyBody {
  const given = settings.flatMap(({ field, option, valueIn }) => {
    const text = options[option.attributeName()]
    return text === undefined ? [] : [[field, valueIn(String(text), nowMs)]]
  })
  return Object.fromEntries(given)
}
