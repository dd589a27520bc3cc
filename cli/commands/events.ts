import type { EventShape, NoticeShape } from '../../layers/admin/api/shapes/books.ts'
import { changeText } from '../../layers/admin/settings/event-words.ts'
import { isoTime } from '../../layers/gateway/domain/basics/time.ts'
import { fields, printList } from '../../layers/terminal/output.ts'
import { option, period, wholeNumber } from './arguments.ts'
import { BY } from './one-key.ts'
import type { CommandRow, Session } from './open-session.ts'
import { moments } from './time-range.ts'

const LIMIT = option('--limit <n>', 'at most this many', wholeNumber(1, 10_000), 50)

export const NOTICES: CommandRow = {
  words: 'the newest notices: whether each was told, how often it was tried, and the last error',
  options: [LIMIT],
  async work(session: Session, { limit }: { limit: number }) {
    printList(session, await session.admin.list<NoticeShape>('/notices', {}, limit), {
      at: moments((notice) => notice.last_at),
      ...fields('type'),
      of: (notice) => notice.owner_name,
      status: (notice) => notice.status.replace('_', ' '),
      ...fields('tries', 'by', 'error'),
    })
  },
}

type ListOptions = { key?: string; account?: string; catalog?: boolean; since: number; limit: number; after?: string }

export const EVENTS: CommandRow = {
  words: 'who changed a key, an account or the catalog',
  commands: {
    list: {
      words: 'the newest changes: who, what, before and after',
      options: [
        option('--key <key>', 'of this key only, or of this admin key by its id'),
        option('--account <account>', 'of this account only').conflicts('key'),
        option('--catalog', 'of the catalog only').conflicts(['key', 'account']),
        option('--since <period>', 'how far back', period).default(period('30d'), '30d'),
        LIMIT,
        option('--after <last-id>', 'go on after the last_id of a list before, which --json shows'),
      ],
      work: listAction,
    },
  },
}

async function listAction(session: Session, options: ListOptions): Promise<void> {
  const { key, account, catalog, since, limit, after } = options
  const query = {
    key_id: key ?? account,
    what: catalog ? 'catalog' : undefined,
    from: isoTime(Math.max(session.nowMs - since, 0)),
    after,
  }
  printList(session, await session.admin.list<EventShape>('/events', query, limit), {
    at: moments((event) => event.at),
    by: BY,
    what: (event) => event.what,
    of: { of: (event) => event.key_id, short: (event) => event.key_name ?? event.key_id },
    change: { of: ({ before, after }) => changeText({ before, after }), short: changeText },
  })
}
