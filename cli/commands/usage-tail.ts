import { setTimeout as sleep } from 'node:timers/promises'
import type { RequestLine } from '../../layers/admin/api/shapes/requests.ts'
import { plainLine } from '../../layers/gateway/domain/basics/plain-text.ts'
import { isoTime, MINUTE_MS } from '../../layers/gateway/domain/basics/time.ts'
import { printJsonLine } from '../../layers/terminal/output.ts'
import { shortened } from '../../layers/terminal/table.ts'
import type { Screen } from '../../layers/terminal/terminal.ts'
import type { Session } from './open-session.ts'
import { shortTime } from './time-range.ts'
import type { UsageFilter } from './usage-filter.ts'
import { listRequests, statusStyle } from './usage-list.ts'

type TailOptions = UsageFilter & { readonly limit: number }

const PAUSE_MS = 2_000
/** A request has its row when it has ended, and stands in the list by its start: none takes longer than its hold. */
const LONGEST_MS = 16 * MINUTE_MS
/** The most rows that are looked through each time. */
const MOST_ROWS = 500

export async function tailAction(session: Session, options: TailOptions): Promise<void> {
  const { output, progress } = session
  using ending = endOf(output)
  progress.stop()
  let seen = new Set<string>()
  for (let isFirst = true; !ending.signal.aborted; isFirst = false) {
    const { data } = await listRequests(session, { from: isoTime(Date.now() - LONGEST_MS) }, options, MOST_ROWS)
    const unseen = data.filter(({ request_id }) => !seen.has(request_id))
    for (const line of (isFirst ? unseen.slice(0, options.limit) : unseen).toReversed()) print(session, line)
    seen = new Set(data.map(({ request_id }) => request_id))
    await sleep(PAUSE_MS, undefined, { signal: ending.signal }).catch(() => {})
  }
}

/** Aborted by Ctrl-C, or by a reader that has left. */
function endOf(output: Session['output']): Disposable & { readonly signal: AbortSignal } {
  const ending = new AbortController()
  const end = () => ending.abort()
  process.once('SIGINT', end).once('SIGTERM', end)
  output.once('error', end)
  return {
    signal: ending.signal,
    [Symbol.dispose]() {
      process.off('SIGINT', end).off('SIGTERM', end)
      output.off('error', end)
    },
  }
}

function print({ out, json }: Session, line: RequestLine): void {
  if (json) printJsonLine(out, line)
  else out.painted(lineText(line, out))
}

const [MODEL_WIDTH, KEY_WIDTH] = [22, 18]

/** Columns fit most lines: those to come are not known. */
function lineText(line: RequestLine, { paint, width }: Screen): string {
  const status = paint[statusStyle(line)](String(line.http_status))
  const key = line.key_name ?? line.key_id
  const cells = [
    width === undefined ? line.started_at : shortTime(line.started_at).slice(11),
    status,
    column(line.model ?? line.endpoint, MODEL_WIDTH, width),
    column(key, KEY_WIDTH, width),
    `${line.duration_ms} ms`.padStart(9),
    line.cost.padStart(12),
  ]
  const more = line.error_code ?? (line.replay_of && 'replayed')
  return [...cells, line.request_id, ...(more ? [plainLine(more)] : [])].join('  ')
}

function column(text: string, least: number, width: number | undefined): string {
  const plain = plainLine(text)
  return (width === undefined ? plain : shortened(plain, least)).padEnd(least)
}
