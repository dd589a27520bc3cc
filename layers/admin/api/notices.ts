import type { z } from 'zod'
import { type Delivery, listDeliveries } from '../../gateway/store/notices/deliveries.ts'
import type { Call } from './call.ts'
import { cursorOf, firstOf, listOf, readCursor } from './pages.ts'
import type { List } from './shapes/answers.ts'
import type { pageQuery } from './shapes/queries.ts'

export async function list({ tables }: Call, { limit, after }: z.output<typeof pageQuery>): Promise<List<Delivery>> {
  const [before] = readCursor(after, /^\w{26}$/) ?? []
  const found = await firstOf(listDeliveries(tables)(before), limit + 1)
  return listOf(
    found,
    limit,
    (one) => one,
    ({ id }) => cursorOf(id),
  )
}
