import type { Tables } from '../../layers/gateway/store/dynamodb/database.ts'

/** The answers to Describe…, where everything is on or off. */
function answersOf(isOn: boolean): Readonly<Record<string, object>> {
  const status = isOn ? 'ENABLED' : 'DISABLED'
  return {
    DescribeTable: { Table: { DeletionProtectionEnabled: isOn } },
    DescribeTimeToLive: {
      TimeToLiveDescription: { TimeToLiveStatus: status, ...(isOn && { AttributeName: 'expiresAt' }) },
    },
    DescribeContinuousBackups: {
      ContinuousBackupsDescription: { PointInTimeRecoveryDescription: { PointInTimeRecoveryStatus: status } },
    },
  }
}

/** Tables with the settings that they have in AWS, which no database on one machine has; a restored one has lost its own. */
export function describedTables(tables: Tables, restored?: string): Tables {
  const control = async (operation: string, { TableName }: { TableName?: string }) => {
    return answersOf(TableName !== restored)[operation] as Record<string, unknown>
  }
  return { ...tables, database: { ...tables.database, control } }
}
