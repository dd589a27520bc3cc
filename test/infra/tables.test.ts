import { describe, expect, test } from '@jest/globals'
import { stageOf } from '../../infra/stages.ts'
import { TABLES } from '../../layers/gateway/contract.ts'
import { createTableInput } from '../../layers/gateway/store/create-tables.ts'
import { synthesize } from './support/synthesize.ts'

type Properties = Record<string, unknown> & {
  AttributeDefinitions: { AttributeName: string; AttributeType: string }[]
  Replicas: Record<string, unknown>[]
}

const stages = { dev: synthesize('dev'), prod: synthesize('prod') }

function tablesOf(stage: keyof typeof stages): { properties: Properties; resource: Record<string, unknown> }[] {
  const found = stages[stage].template.findResources('AWS::DynamoDB::GlobalTable')
  return Object.values(found).map((resource) => ({ properties: resource.Properties as Properties, resource }))
}

describe('the tables in AWS', () => {
  test.each([
    ['keys', TABLES.keys],
    ['usage', TABLES.usage],
    ['answers', TABLES.answers],
  ] as const)('%s has the keys, indexes and time to live of the local one', (_, definition) => {
    const local = createTableInput('x', definition)
    const match = tablesOf('dev').find(
      ({ properties }) => JSON.stringify(properties.KeySchema) === JSON.stringify(local.KeySchema),
    )
    const byName = (a: { AttributeName?: string | undefined }, b: { AttributeName?: string | undefined }) =>
      (a.AttributeName ?? '').localeCompare(b.AttributeName ?? '')
    expect(match?.properties.AttributeDefinitions.sort(byName)).toEqual(local.AttributeDefinitions?.sort(byName))
    expect(match?.properties.GlobalSecondaryIndexes).toEqual(local.GlobalSecondaryIndexes)
    expect(match?.properties.BillingMode).toBe(local.BillingMode)
    expect(match?.properties.TimeToLiveSpecification).toEqual({ AttributeName: definition.timeToLive, Enabled: true })
  })

  test('can be restored to any moment, and in prod cannot be deleted', () => {
    for (const { properties, resource } of tablesOf('prod')) {
      expect(properties.Replicas[0]).toMatchObject({
        PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
        DeletionProtectionEnabled: true,
      })
      expect(resource.DeletionPolicy).toBe('Retain')
    }
  })

  test('an unknown stage is refused by name', () => {
    expect(() => stageOf('staging')).toThrow("There is no stage 'staging'")
  })
})
