import { z } from 'zod'
import { SETTING_NAMES, settingRow } from '../../infra/setting-table.ts'

type Schema = z.core.JSONSchema.BaseSchema

/** The settings as an interface with their words: who installs the construct gets no types of zod. */
export function settingsType(): string {
  const members = SETTING_NAMES.map((name) => {
    const { schema, words } = settingRow(name)
    const isOptional = schema.safeParse(undefined).success
    return `    /** ${withoutLinks(words)} */\n    ${memberOf(name, z.toJSONSchema(schema), isOptional)};`
  })
  return `/** The operator's settings. docs/deploy.md has their defaults. */\nexport interface Settings {\n${members.join('\n')}\n}\n`
}

function memberOf(name: string, schema: Schema, isOptional: boolean): string {
  return `readonly ${name}${isOptional ? '?' : ''}: ${typeOf(schema)}${isOptional ? ' | undefined' : ''}`
}

function typeOf({ anyOf, enum: values, type, properties = {}, required = [] }: Schema): string {
  if (anyOf) return anyOf.map((one) => typeOf(one as Schema)).join(' | ')
  if (values) return values.map((value) => `'${value}'`).join(' | ')
  if (type !== 'object') return type === 'integer' ? 'number' : `${type}`
  const members = Object.entries(properties).map(([name, of]) => memberOf(name, of as Schema, !required.includes(name)))
  return `{ ${members.join('; ')} }`
}

function withoutLinks(words: string): string {
  return words.replaceAll(/\[([^\]]+)\]\([^)]+\)/g, '$1')
}
