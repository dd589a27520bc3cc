import {
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb'
import { TABLES } from '../../names.ts'
import type { OperatorTables } from './operator-tables.ts'

type TableKind = keyof typeof TABLES

type TableSettings = {
  readonly kind: TableKind
  readonly name: string
  /** Its time to live is on, by the attribute that our items have. */
  readonly expires: boolean
  readonly isRecoverable: boolean
  readonly isDeletionProtected: boolean
}

/** The settings of the tables that a restore does not bring back. */
export function readTableSettings({ client, ...tables }: OperatorTables): Promise<TableSettings[]> {
  return Promise.all((Object.keys(TABLES) as TableKind[]).map(settingsOf))

  async function settingsOf(kind: TableKind): Promise<TableSettings> {
    const TableName = tables[kind]
    const [{ Table }, { TimeToLiveDescription: life }, { ContinuousBackupsDescription: backups }] = await Promise.all([
      client.send(new DescribeTableCommand({ TableName })),
      client.send(new DescribeTimeToLiveCommand({ TableName })),
      client.send(new DescribeContinuousBackupsCommand({ TableName })),
    ])
    return {
      kind,
      name: TableName,
      expires: life?.AttributeName === TABLES[kind].timeToLive && /^ENABL/.test(life.TimeToLiveStatus ?? ''),
      isRecoverable: backups?.PointInTimeRecoveryDescription?.PointInTimeRecoveryStatus === 'ENABLED',
      isDeletionProtected: Table?.DeletionProtectionEnabled === true,
    }
  }
}
