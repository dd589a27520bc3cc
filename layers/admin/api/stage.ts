import { readTableSettings } from '../../gateway/store/dynamodb/table-settings.ts'
import { AdminError } from './admin-error.ts'
import type { Call } from './call.ts'
import { wholeList } from './pages.ts'
import type { List, TableShape, WhoAmI } from './shapes/answers.ts'

export async function whoAmI({ identity, stage, isProtected, chatUrl, echoUrl }: Call): Promise<WhoAmI> {
  return {
    object: 'identity',
    by: await identity.by(),
    stage,
    protected: isProtected,
    scopes: identity.scopes,
    base_url: `${chatUrl}/v1`,
    // For other gateways, only the gateway knows the address by which it is reached.
    address: echoUrl === undefined ? null : '127.0.0.1',
  }
}

export async function listTables({ tables }: Call): Promise<List<TableShape>> {
  const settings = await readTableSettings(tables).catch((error: Error) => {
    if (error.name !== 'UnknownOperationException') throw error
    throw new AdminError('not_here', 'The tables of a local gateway have no such settings.')
  })
  return wholeList(
    settings.map(({ isRecoverable, isDeletionProtected, ...table }) => ({
      object: 'table',
      ...table,
      recoverable: isRecoverable,
      deletion_protected: isDeletionProtected,
    })),
  )
}
