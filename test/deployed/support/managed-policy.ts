import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { assemblies } from '../../support/assemblies.ts'
import { type Role, rightsOf, type Statement, statementsOf } from './role.ts'
import { pathOf, type Resource, type Template } from './template.ts'

type TableNames = { readonly keys: string; readonly usage: string; readonly answers: string }

export type ManagedPolicy = Role & { readonly statements: readonly Statement[] }

/** A policy of the stack for people, as it would be in an account with these tables. */
export async function managedPolicy(name: string, tables: TableNames): Promise<ManagedPolicy> {
  const file = join(await assemblies(), 'dev', 'Waybill-dev.template.json')
  const template = JSON.parse(readFileSync(file, 'utf8')) as Template
  const found = Object.values(template.Resources).find((resource) => pathOf(resource) === `Operators/${name}`)
  if (!found) throw new Error(`The template has no policy ${name}.`)
  const statements = statementsOf(found)
  return { ...rightsOf(template, statements, (resource) => tableNamed(tables, resource)), statements }
}

function tableNamed({ keys, usage, answers }: TableNames, resource: Resource): string {
  const names: Record<string, string> = { 'Tables/Keys': keys, 'Tables/Usage': usage, 'Tables/Answers': answers }
  return names[pathOf(resource)] ?? 'something else'
}
