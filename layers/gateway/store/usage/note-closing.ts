import { isConditionFailed } from '../failures.ts'
import type { Tables } from '../tables.ts'
import { CLOSING_ITEM, type ExportCursor } from './read-closing.ts'

type Noted =
  | { readonly closedThrough: string; readonly closedAtMs: number }
  | { readonly exportedThrough: string }
  | { readonly exporting: ExportCursor }

/** Notes the progress of a run. Of two concurrent runs, the slower one takes nothing back. */
type NoteClosing = (noted: Noted) => Promise<void>

export function noteClosing({ database, usage }: Tables): NoteClosing {
  return async (noted) => {
    try {
      await database.update({ TableName: usage, Key: CLOSING_ITEM, ...writeOf(noted) })
    } catch (error) {
      if (!isConditionFailed(error)) throw error
    }
  }
}

function writeOf(noted: Noted) {
  if ('exporting' in noted) {
    return {
      UpdateExpression: 'SET exporting = :place',
      ExpressionAttributeValues: { ':place': noted.exporting },
    }
  }
  if ('exportedThrough' in noted) {
    return {
      ConditionExpression: 'attribute_not_exists(exportedThrough) OR exportedThrough < :day',
      UpdateExpression: 'SET exportedThrough = :day REMOVE exporting',
      ExpressionAttributeValues: { ':day': noted.exportedThrough },
    }
  }
  return {
    ConditionExpression: 'attribute_not_exists(closedThrough) OR closedThrough < :day',
    UpdateExpression: 'SET closedThrough = :day, closedAtMs = :nowMs',
    ExpressionAttributeValues: { ':day': noted.closedThrough, ':nowMs': noted.closedAtMs },
  }
}
