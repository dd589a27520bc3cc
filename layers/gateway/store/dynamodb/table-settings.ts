import { TABLES } from '../../names.ts'
import type { Tables } from './database.ts'

type TableKind = keyof typeof TABLES

type Described = {
  readonly Table?: { readonly DeletionProtectionEnabled?: boolean }
  readonly TimeToLiveDescription?: { readonly AttributeName?: string; readonly TimeToLiveStatus?: string }
  readonly ContinuousBackupsDescription?: {
    readonly PointInTimeRecoveryDescription?: { readonly PointInTimeRecoveryStatus?: string }
  }
}

/** The settings of the tables that a restore does not bring back. */
export function readTableSettings({ database, ...tables }: Tables) {
  return Promise.all((Object.keys(TABLES) as TableKind[]).map(settingsOf))

  async function settingsOf(kind: TableKind) {
    const TableName = tables[kind]
    const describe = (what: string): Promise<Described> => database.control(`Describe${what}`, { TableName })
    const [{ Table }, { TimeToLiveDescription: life }, { ContinuousBackupsDescription: backups }] = await Promise.all([
      describe('Table'),
      describe('TimeToLive'),
      describe('ContinuousBackups'),
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
