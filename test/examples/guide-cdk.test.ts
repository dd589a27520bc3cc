import { expect, test } from '@jest/globals'
import { MAY_COME_LATER } from '../../infra/setting-table.ts'
import { blocksOf, readDocument } from '../documents/support/markdown.ts'

const GUIDE = 'docs/guide-cdk.md'

/** The first column of a table, whose cells may have several names. */
function namesIn(heading: string): string[] {
  const [, table = ''] = readDocument(GUIDE).split(`| ${heading} | is |\n|---|---|\n`)
  const rows = table.split('\n\n')[0]?.split('\n') ?? []
  return rows.flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`(\w+)`/g)].map(([, name]) => name ?? ''))
}

test('the guide’s app is the example’s', () => {
  expect(blocksOf(GUIDE, 'ts')).toEqual([readDocument('examples/cdk/app.ts')])
})

test('the guide has every attribute of the construct, and every property that is no setting', () => {
  const attributes = [...readDocument('infra/waybill.ts').matchAll(/^ {2}readonly (\w+):/gm)].map(([, name]) => name)
  expect(namesIn('attribute').toSorted()).toEqual(attributes.toSorted())
  const [, own = ''] = readDocument('infra/props.ts').split('interface WaybillProps')
  const properties = [...own.matchAll(/^ {2}readonly (\w+)\??:/gm)].map(([, name]) => name)
  expect(namesIn('property')).toEqual(properties)
})

test('the guide names the settings whose values only the deployment may know', () => {
  const [, list = ''] = readDocument(GUIDE).split('is refused, except for these:\n')
  const named = [...(list.split('\n\n')[0] ?? '').matchAll(/`([\w.]+)`/g)].map(([, name]) => name)
  expect(named).toEqual(MAY_COME_LATER)
})
