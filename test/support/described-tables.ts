import type { OperatorTables } from '../../layers/gateway/store/sdk/operator-tables.ts'

const AS_DEPLOYED: Readonly<Record<string, object>> = {
  DescribeTableCommand: { Table: { DeletionProtectionEnabled: true } },
  DescribeTimeToLiveCommand: { TimeToLiveDescription: { AttributeName: 'expiresAt', TimeToLiveStatus: 'ENABLED' } },
  DescribeContinuousBackupsCommand: {
    ContinuousBackupsDescription: { PointInTimeRecoveryDescription: { PointInTimeRecoveryStatus: 'ENABLED' } },
  },
}
const LOST: Readonly<Record<string, object>> = {
  DescribeTableCommand: { Table: { DeletionProtectionEnabled: false } },
  DescribeTimeToLiveCommand: { TimeToLiveDescription: { TimeToLiveStatus: 'DISABLED' } },
  DescribeContinuousBackupsCommand: {
    ContinuousBackupsDescription: { PointInTimeRecoveryDescription: { PointInTimeRecoveryStatus: 'DISABLED' } },
  },
}

type Command = { readonly input: { readonly TableName?: string } }

/** Tables with the settings that they have in AWS, which no database on one machine has; a restored one has lost its own. */
export function describedTables(tables: OperatorTables, restored?: string): OperatorTables {
  const send = async (command: Command) => {
    const settings = command.input.TableName === restored ? LOST : AS_DEPLOYED
    return settings[command.constructor.name] ?? tables.client.send(command as never)
  }
  return { ...tables, client: { send } as never }
}
