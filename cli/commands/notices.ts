import type { NoticeShape } from '../../layers/admin/api/shapes/books.ts'
import { printList } from '../../layers/terminal/output.ts'
import { option, wholeNumber } from './arguments.ts'
import type { CommandRow, Session } from './open-session.ts'
import { shortTime } from './time-range.ts'

export const NOTICES: CommandRow = {
  words: 'the newest notices: whether each was told, how often it was tried, and the last error',
  options: [option('--limit <n>', 'at most this many', wholeNumber(1, 10_000), 50)],
  async work(session: Session, { limit }: { limit: number }): Promise<void> {
    printList(session, await session.admin.list<NoticeShape>('/notices', {}, limit), {
      at: { of: (notice) => notice.last_at, short: (notice) => shortTime(notice.last_at) },
      type: (notice) => notice.type,
      of: (notice) => notice.owner_name,
      status: (notice) => notice.status.replace('_', ' '),
      tries: (notice) => notice.tries,
      error: (notice) => notice.error,
    })
  },
}
