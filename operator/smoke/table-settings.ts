import {
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb'
import { TABLES } from '../../layers/gateway/contract.ts'
import { shellWord } from '../../layers/gateway/domain/shell-word.ts'
import type { OperatorTables } from '../../layers/gateway/store/operator-tables.ts'
import type { NotApplicable } from './stage-checks.ts'

/** The second is what a database on this machine says. */
const UNSEEN = ['AccessDeniedException', 'UnknownOperationException']

type Kind = keyof typeof TABLES
const KINDS = Object.keys(TABLES) as Kind[]

/** Kept answers end after a day, and must not be recoverable for 35. */
const RECOVERABLE: readonly Kind[] = ['keys', 'usage']

/** Fails with the commands that repair a table whose settings are not the template's, as after a restore. */
export async function checkTableSettings(
  tables: OperatorTables,
  isProtected: boolean,
): Promise<NotApplicable | undefined> {
  const repairs: string[] = []
  try {
    for (const kind of KINDS) repairs.push(...(await repairsOf(tables, kind, isProtected)))
  } catch (error) {
    const { name } = error as Error
    if (!UNSEEN.includes(name)) throw error
    return { notApplicable: `your rights do not show it (${name}); the policy of the output OperatorPolicy does` }
  }
  if (repairs.length > 0) throw new Error(`a table is not as it was deployed. Repair it:\n  ${repairs.join('\n  ')}`)
  return undefined
}

async function repairsOf({ client, ...tables }: OperatorTables, kind: Kind, isProtected: boolean): Promise<string[]> {
  const TableName = tables[kind]
  const { Table } = await client.send(new DescribeTableCommand({ TableName }))
  const { TimeToLiveDescription: life } = await client.send(new DescribeTimeToLiveCommand({ TableName }))
  const { ContinuousBackupsDescription: backups } = await client.send(
    new DescribeContinuousBackupsCommand({ TableName }),
  )
  const { timeToLive } = TABLES[kind]
  const isAlive = life?.AttributeName === timeToLive && /^ENABL/.test(life.TimeToLiveStatus ?? '')
  const isRecoverable = backups?.PointInTimeRecoveryDescription?.PointInTimeRecoveryStatus === 'ENABLED'
  const on = `--table-name ${shellWord(TableName)}`
  return [
    {
      isRight: isAlive,
      repair: `update-time-to-live ${on} --time-to-live-specification ${shellWord(`Enabled=true,AttributeName=${timeToLive}`)}`,
    },
    {
      isRight: isRecoverable || !RECOVERABLE.includes(kind),
      repair: `update-continuous-backups ${on} --point-in-time-recovery-specification PointInTimeRecoveryEnabled=true`,
    },
    {
      isRight: Table?.DeletionProtectionEnabled || !isProtected,
      repair: `update-table ${on} --deletion-protection-enabled`,
    },
  ].flatMap(({ isRight, repair }) => (isRight ? [] : [`aws dynamodb ${repair}`]))
}
