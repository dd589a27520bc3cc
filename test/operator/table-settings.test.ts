import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { openOperatorTables } from '../../layers/gateway/store/operator-tables.ts'
import { checkTableSettings } from '../../operator/smoke/table-settings.ts'

const AS_DEPLOYED = {
  DescribeTable: { Table: { DeletionProtectionEnabled: true } },
  DescribeTimeToLive: { TimeToLiveDescription: { AttributeName: 'expiresAt', TimeToLiveStatus: 'ENABLED' } },
  DescribeContinuousBackups: {
    ContinuousBackupsDescription: {
      ContinuousBackupsStatus: 'ENABLED',
      PointInTimeRecoveryDescription: { PointInTimeRecoveryStatus: 'ENABLED' },
    },
  },
}
type Operation = keyof typeof AS_DEPLOYED

/** DynamoDB in AWS: the operations that a database on this machine does not have. */
let said: Record<Operation, object> = AS_DEPLOYED
/** The one table that was restored, and so has lost its settings. */
let restored = ''
const dynamodb = createServer(async (request, response) => {
  const operation = String(request.headers['x-amz-target']).replace(/^.*\./, '') as Operation
  const { TableName } = JSON.parse(await text(request))
  const body = TableName === restored ? LOST[operation] : said[operation]
  response.writeHead('__type' in body ? 400 : 200, { 'content-type': 'application/x-amz-json-1.0' })
  response.end(JSON.stringify(body))
})
const LOST: Record<Operation, object> = {
  DescribeTable: { Table: { DeletionProtectionEnabled: false } },
  DescribeTimeToLive: { TimeToLiveDescription: { TimeToLiveStatus: 'DISABLED' } },
  DescribeContinuousBackups: {
    ContinuousBackupsDescription: {
      ContinuousBackupsStatus: 'ENABLED',
      PointInTimeRecoveryDescription: { PointInTimeRecoveryStatus: 'DISABLED' },
    },
  },
}

beforeAll(() => new Promise<void>((resolve) => dynamodb.listen(0, '127.0.0.1', resolve)))
afterAll(() => {
  dynamodb.closeAllConnections()
  dynamodb.close()
})
beforeEach(() => {
  said = AS_DEPLOYED
  restored = ''
})

function check(isProtected: boolean) {
  const names = { keysTable: 'KEYS', usageTable: 'USAGE', answersTable: 'ANSWERS' }
  const endpoint = `http://127.0.0.1:${(dynamodb.address() as AddressInfo).port}`
  return checkTableSettings(openOperatorTables(names, { endpoint }), isProtected)
}

test('smoke is content with tables as they were deployed', async () => {
  expect(await check(true)).toBeUndefined()
})

test('smoke names every setting that a restored table has lost, by the command that sets it', async () => {
  restored = 'USAGE'
  const message = await check(true).then(String, ({ message }: Error) => message)
  expect(message.split('\n').slice(1)).toEqual([
    '  aws dynamodb update-time-to-live --table-name USAGE --time-to-live-specification Enabled=true,AttributeName=expiresAt',
    '  aws dynamodb update-continuous-backups --table-name USAGE --point-in-time-recovery-specification PointInTimeRecoveryEnabled=true',
    '  aws dynamodb update-table --table-name USAGE --deletion-protection-enabled',
  ])
})

test('smoke wants no deletion protection in a stage without it, and no recovery of kept answers', async () => {
  restored = 'ANSWERS'
  const message = await check(false).then(String, ({ message }: Error) => message)
  expect(message.match(/aws dynamodb [\w-]+/g)).toEqual(['aws dynamodb update-time-to-live'])
})

test('smoke says what it could not see, and with which rights it could', async () => {
  said = { ...AS_DEPLOYED, DescribeContinuousBackups: { __type: 'AccessDeniedException', message: 'no' } }
  expect(await check(true)).toEqual({ notApplicable: expect.stringMatching(/AccessDeniedException.*OperatorPolicy/) })
})
