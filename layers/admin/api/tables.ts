import { readTableSettings } from '../../gateway/store/sdk/table-settings.ts'
import { AdminError } from './admin-error.ts'
import type { Answer, Call } from './call.ts'
import { wholeList } from './pages.ts'
import type { TableShape } from './shapes/answers.ts'

export async function listTables({ tables }: Call): Promise<Answer> {
  const settings = await readTableSettings(tables).catch((error: Error) => {
    if (error.name !== 'UnknownOperationException') throw error
    throw new AdminError('not_here', 'The tables of a local gateway have no such settings.')
  })
  return {
    body: wholeList(
      settings.map(
        ({ kind, name, expires, isRecoverable, isDeletionProtected }): TableShape => ({
          object: 'table',
          kind,
          name,
          expires,
          recoverable: isRecoverable,
          deletion_protected: isDeletionProtected,
        }),
      ),
    ),
  }
}
