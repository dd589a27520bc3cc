import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { FAULT_WORDS } from '../layers/catalog/fault-words.ts'
import { requireCatalog } from '../layers/catalog/parse-catalog.ts'
import { jsonFault } from '../layers/gateway/domain/basics/json-fault.ts'
import type { CatalogData } from '../layers/gateway/domain/routing/catalog.ts'
import { documentOf, IS_PACKAGE, SEED_FILE, SETTINGS_FILE } from '../layers/terminal/how-to-run.ts'
import {
  MAY_COME_LATER,
  SETTING_NAMES,
  SETTING_TABLE,
  type SettingName,
  type SettingsOfStages,
} from './setting-table.ts'
import { STAGE_NAMES, stageOf } from './stages.ts'

const settings = z.strictObject(
  Object.fromEntries(SETTING_NAMES.map((name) => [name, SETTING_TABLE[name].schema])) as {
    [Name in SettingName]: (typeof SETTING_TABLE)[Name]['schema']
  },
)

export function numberRange(name: string): { minValue?: number; maxValue?: number } {
  const { minimum, maximum } = z.toJSONSchema(SETTING_TABLE[name as SettingName].schema)
  return {
    ...(minimum !== undefined && { minValue: minimum }),
    ...(maximum !== undefined && maximum !== Number.MAX_SAFE_INTEGER && { maxValue: maximum }),
  }
}

/** A package has its operator's files in the folder in which it is run. */
const folder = () => (IS_PACKAGE ? process.cwd() : fileURLToPath(new URL('..', import.meta.url)))

export function readSettings(): SettingsOfStages {
  const { WAYBILL_SETTINGS: named } = process.env
  const file = named ?? join(folder(), SETTINGS_FILE)
  if (!named && !existsSync(file)) return {}
  return parseSettings(readFileSync(file, 'utf8'), named ?? SETTINGS_FILE)
}

export function parseSettings(text: string, file: string): SettingsOfStages {
  const ofStages = z
    .strictObject(Object.fromEntries(STAGE_NAMES.map((name) => [name, settingsOf(name).optional()])))
    .extend({ $comment: z.string().optional() })
    .transform(({ $comment: _, ...stages }) => stages)
  const parsed = ofStages.safeParse(jsonOf(text, file), FAULT_WORDS)
  if (parsed.success) return parsed.data as SettingsOfStages
  const faults = parsed.error.issues.map(({ path, message }) => `${path.join('.') || 'the file'}: ${message}`)
  throw new Error(`${file} is not valid.\n  ${faults.join('\n  ')}\nThe settings are in ${documentOf('deploy.md')}.`)
}

/** The faults of one stage's settings in code, where `isLater` tells the values that only a deployment knows. */
export function settingsFaults(stage: string, own: object, isLater: (value: unknown) => boolean): string[] {
  const faults = settingsOf(stage).safeParse(own, FAULT_WORDS).error?.issues ?? []
  return faults.flatMap(({ path, message }) => {
    const name = path.join('.')
    if (!isLater(valueAt(own, path))) return [`${name || 'settings'}: ${message}`]
    return MAY_COME_LATER.includes(name) ? [] : [`${name}: must be known when the template is made, and not later`]
  })
}

function valueAt(value: unknown, [key, ...rest]: readonly PropertyKey[]): unknown {
  return key === undefined ? value : valueAt((value as Record<PropertyKey, unknown>)[key], rest)
}

function settingsOf(name: string) {
  const asItComes = stageOf(name)
  return settings
    .partial()
    .refine(
      (own) => !own.monthlyBudgetUsd || own.alarmEmail,
      'monthlyBudgetUsd needs an alarmEmail, to which AWS writes',
    )
    .refine(
      ({ edge, domain, waf = 'off', edgeLogs }) => edge !== false || (!domain && waf === 'off' && !edgeLogs),
      'domain, waf and edgeLogs are of CloudFront, which edge: false is without',
    )
    .refine(
      ({ tableNames }) => !tableNames || asItComes.keepsData,
      'tableNames is for a stage whose tables outlive it: CloudFormation adopts no others',
    )
    .refine(
      ({ edge, usagePage }) => edge !== false || !usagePage,
      'usagePage needs edge, because without it chat has another address than the page',
    )
    .refine(
      ({ keepRowsDays = asItComes.keepRowsDays, exportUsage = asItComes.exportUsage }) =>
        keepRowsDays === null || exportUsage,
      'keepRowsDays needs exportUsage, because a row that is deleted must be somewhere',
    )
}

/** A setting that was given as a flag would be lost with the next deployment. */
export function refuseFlags(context: (name: string) => unknown): void {
  for (const name of SETTING_NAMES) {
    if (context(name) === undefined) continue
    throw new Error(
      `'-c ${name}=…' is not taken, because the next deployment would forget it: set "${name}" in ${SETTINGS_FILE}.`,
    )
  }
}

export type Seed = { readonly catalog: CatalogData; readonly source: string }

/** A file that somebody names is found from where they are. */
export function readSeed(named?: string): Seed {
  const file = named ?? SEED_FILE
  const json = jsonOf(textOf(named === undefined ? join(folder(), file) : resolve(file)), file)
  return { catalog: requireCatalog(json, file), source: JSON.stringify(json) }
}

function textOf(file: string): string {
  if (existsSync(file)) return readFileSync(file, 'utf8')
  const advice = IS_PACKAGE ? "'npx waybill init' writes a first one." : `${SEED_FILE} is an example.`
  throw new Error(`There is no ${file}. ${advice}`)
}

function jsonOf(text: string, file: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error(`${file} is not JSON: ${jsonFault(text)}.`)
  }
}
