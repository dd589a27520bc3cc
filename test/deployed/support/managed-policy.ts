import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { assemblies } from '../../support/assemblies.ts'
import { type Statement, statementsOf } from './role.ts'
import { pathOf, type Template } from './template.ts'

/** The statements of a policy of the stack for people. */
export async function managedPolicy(name: string): Promise<Statement[]> {
  const file = join(await assemblies(), 'dev', 'Waybill-dev.template.json')
  const template = JSON.parse(readFileSync(file, 'utf8')) as Template
  const found = Object.values(template.Resources).find((resource) => pathOf(resource) === `Operators/${name}`)
  if (!found) throw new Error(`The template has no policy ${name}.`)
  return statementsOf(found)
}
