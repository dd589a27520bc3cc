import { TABLES } from '../../names.ts'
import { dynamoDbService, type LocalEndpoint } from '../dynamodb/dynamodb-client.ts'

/** Lets rows expire at their times, or keeps all of them. DynamoDB can switch it for a table, not for a day. */
export type SetRowExpiry = (isOn: boolean) => Promise<void>

const ATTEMPTS = 3

export function setRowExpiry(usage: string, local?: LocalEndpoint): SetRowExpiry {
  const call = dynamoDbService(local)
  return async (isOn) => {
    const TimeToLiveSpecification = { AttributeName: TABLES.usage.timeToLive, Enabled: isOn }
    const body = JSON.stringify({ TableName: usage, TimeToLiveSpecification })
    await call('UpdateTimeToLive', body, { attempts: ATTEMPTS }).catch((error: Error) => {
      // DynamoDB refuses to switch to what is set.
      if (!/already (en|dis)abled/.test(error.message)) throw error
    })
  }
}
