import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, jest } from '@jest/globals'
import { App, type CfnElement, type Stack } from 'aws-cdk-lib'
import { Template } from 'aws-cdk-lib/assertions'
import type { Construct } from 'constructs'
import type { Functions } from '../../../infra/functions.ts'
import type { Tables } from '../../../infra/tables.ts'
import { FUNCTION_NAMES, stackName } from '../../../layers/gateway/contract.ts'

// What esbuild makes is synth.test.ts's to look at. Here every function is a file with its name in it.
const bundles = mkdtempSync(join(tmpdir(), 'waybill-bundles-'))
afterAll(() => rmSync(bundles, { recursive: true, force: true }))
const bundleNamed = (name: string) => {
  mkdirSync(join(bundles, name), { recursive: true })
  writeFileSync(join(bundles, name, 'index.js'), name)
  return join(bundles, name)
}
jest.unstable_mockModule('../../../infra/bundle.ts', () => ({
  bundleFunction: bundleNamed,
  bundleTokenizer: () => bundleNamed('tokenizer'),
}))
const { WaybillStack } = await import('../../../infra/stack.ts')
const { stageOf } = await import('../../../infra/stages.ts')

export const FUNCTIONS = [...FUNCTION_NAMES, 'sweep'] as const
export type Name = (typeof FUNCTIONS)[number]

export type Synthesized = {
  readonly template: Template
  /** Their logical ids. */
  readonly functions: Readonly<Record<Name, string>>
  readonly tables: { readonly keys: string; readonly usage: string; readonly answers: string }
}

/** The stack as `cdk synth` makes it, with cdk.json's flags. */
export function synthesize(stage: string, options: { edge?: boolean; alarmEmail?: string } = {}): Synthesized {
  const { context } = JSON.parse(readFileSync(new URL('../../../cdk.json', import.meta.url), 'utf8'))
  const stack = new WaybillStack(new App({ context }), stackName(stage), {
    stage: stageOf(stage),
    edge: true,
    ...options,
  })
  const made = stack.node.findChild('Functions') as Functions
  const { keys, usage, answers } = stack.node.findChild('Tables') as Tables
  return {
    template: Template.fromStack(stack),
    functions: Object.fromEntries(FUNCTIONS.map((name) => [name, idOf(stack, made[name])])) as Record<Name, string>,
    tables: { keys: idOf(stack, keys), usage: idOf(stack, usage), answers: idOf(stack, answers) },
  }
}

function idOf(stack: Stack, { node }: Construct): string {
  return stack.getLogicalId(node.defaultChild as CfnElement)
}

export const arnOf = (id: string) => ({ 'Fn::GetAtt': [id, 'Arn'] })

/** The text of an `Fn::Join`, with each reference as `<Name>`. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  const { Ref, 'Fn::GetAtt': attribute, 'Fn::Join': joined } = value as Record<string, unknown>
  if (Array.isArray(joined)) return joined[1].map(textOf).join(joined[0])
  return `<${Ref ?? (attribute as string[]).join('.')}>`
}

/** The one resource of a type. */
export function only(template: Template, type: string) {
  const found = Object.entries(template.findResources(type))
  if (found.length !== 1 || !found[0]) throw new Error(`There are ${found.length} of ${type}.`)
  return { id: found[0][0], resource: found[0][1], properties: found[0][1].Properties }
}
