import { DAY_MS, ulid, ulidTimeMs } from '../../layers/gateway/domain/basics/time.ts'
import { dueNotices, type Owner } from '../../layers/gateway/domain/keys/notice.ts'
import { readTopUpUrl } from '../../layers/gateway/platform/config.ts'
import { noteDelivery } from '../../layers/gateway/store/notices/deliveries.ts'
import {
  forgetNotices,
  type KeptNotice,
  keepNotice,
  type WatchedOwner,
} from '../../layers/gateway/store/notices/notices.ts'
import { type NoticeBody, noticeBody } from '../../layers/gateway/wire/keys/notice-body.ts'
import type { Instance } from '../instance.ts'

/** Tells a notice to the operator's systems. Throws if it was not taken. */
export type Tell = (notice: NoticeBody) => Promise<void>

const MOST_DAYS = 3

/** A notice is kept on the key's item, told, and forgotten, so that a crash leaves it, with its id, to the next sweep. */
export function noticeTeller({ tables, clock, random, log, config }: Instance, tell: Tell | undefined, by: string) {
  const topUpUrl = readTopUpUrl(config)
  const keep = keepNotice(tables)
  const note = noteDelivery(tables)
  const forget = forgetNotices(tables)

  return async (watched: WatchedOwner, again: () => Promise<WatchedOwner | undefined>): Promise<void> => {
    const { key, kept, unreadable } = tell ? await withDue(watched, again) : watched
    const isTooOld = ({ id }: { readonly id: string }) => ulidTimeMs(id) < clock() - MOST_DAYS * DAY_MS
    const late = tell ? kept.filter(isTooOld) : []
    const current = kept.filter((notice) => !late.includes(notice))
    for (const notice of late) {
      log.problem(GIVEN_UP, new Error(`${notice.what} ${notice.id} of ${key.id}`), '-')
      await note(notice, key, { status: 'given_up' }, clock())
    }
    await forget(key.id, [...unreadable, ...late.map(({ bytes }) => bytes)])
    const failed: unknown[] = []
    for (const notice of current) {
      // One that is never taken must not keep the others from being told.
      await tellOne(key, notice).catch((error) => failed.push(error))
    }
    if (failed.length > 0) throw failed[0]
  }

  async function tellOne(key: Owner, notice: KeptNotice): Promise<void> {
    try {
      await tell?.(noticeBody(notice, key, topUpUrl))
    } catch (error) {
      await note(notice, key, { status: 'failed', error: (error as Error).message }, clock())
      throw error
    }
    // Before it is forgotten: after a crash it is told, and noted, again.
    if (tell) await note(notice, key, { status: 'told', by }, clock())
    await forget(key.id, [notice.bytes])
  }

  async function withDue(watched: WatchedOwner, again: () => Promise<WatchedOwner | undefined>): Promise<WatchedOwner> {
    const due = dueNotices(watched, clock())
    for (const notice of due) await keep(watched, notice, ulid(clock(), random(10)))
    return due.length > 0 ? ((await again()) ?? watched) : watched
  }
}

const GIVEN_UP = `a notice was not taken for ${MOST_DAYS} days, and is given up`
