import type { ComponentChildren } from 'preact'
import type { EventShape } from '../../../layers/admin/api/shapes/books.ts'
import type { GrantShape, KeyDetail } from '../../../layers/admin/api/shapes/keys.ts'
import type { RequestLine } from '../../../layers/admin/api/shapes/requests.ts'
import type { UsagePage } from '../../../layers/admin/api/shapes/usage.ts'
import { shownText } from '../../../layers/admin/settings/setting-texts.ts'
import { shellWord } from '../../../layers/gateway/domain/basics/shell-word.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../layers/gateway/domain/basics/time.ts'
import { pathOf } from '../../api.ts'
import { By, eventColumns, REQUEST_COLUMNS } from '../../parts/columns.tsx'
import { CopyButton, Segments } from '../../parts/controls.tsx'
import { counted, dayText, lastsText, sumOf } from '../../parts/numbers.ts'
import { Empty, Facts, LeftBar, Loading, Metric, Page, Panel } from '../../parts/page.tsx'
import { type Column, cell, credits, Rows } from '../../parts/table.tsx'
import { chartPath, UsageChart } from '../../parts/usage-chart.tsx'
import { useList, useLive } from '../../parts/use-load.ts'
import { attentionOf, Badge, Credits, Moment, NameLink, useNow } from '../../parts/values.tsx'
import { filterOf, go, linkTo, type PageUrl, placeOf } from '../../router.ts'
import { type Act, ActButton, type Detail, formOf } from './dialogs.tsx'

const LIVE_MS = 3000
const USAGE_MS = 60_000
const LAST_REQUESTS = 10

type Props<Of extends Detail> = {
  readonly url: PageUrl
  readonly word: 'key' | 'customer'
  readonly acts: readonly Act<Of>[]
  readonly groups: readonly string[]
  readonly use: (of: Of) => Use
  readonly above?: (of: Of, onDone: (now: Of) => void) => ComponentChildren
  readonly beside?: (of: Of) => ComponentChildren
  readonly below: (of: Of) => ComponentChildren
}

export function useUsage(id: string, groupBy: string) {
  const from = dayText(useNow(HOUR_MS) - (DAYS - 1) * DAY_MS)
  return useLive<UsagePage>(chartPath({ ...filterOf(id), group_by: groupBy, from }), USAGE_MS)
}

export function DetailPage<Of extends Detail>({ url, word, acts, groups, ...parts }: Props<Of>) {
  const [, id = ''] = url.path
  const path = pathOf(id)
  const own = filterOf(id)
  const of = useLive<Of>(path, LIVE_MS)
  const by = groups.find((group) => group === url.query.get('by')) ?? 'model'
  const options = groups.map((group) => [group, `By ${group}`] as const)
  const usage = useUsage(id, by)
  const requests = useList<RequestLine>('/requests', own)
  const grants = useList<GrantShape>(`${path}/grants`)
  const events = useList<EventShape>(`${path}/events`)
  const changed = (now: Of) => {
    of.set(now)
    events.reload()
    grants.reload()
  }
  const isOver = of.data?.status === 'revoked' || of.data?.status === 'closed'
  // A key that was alone once may have some.
  const hasGrants = grants.rows.length > 0 || !(of.data && isShared(of.data))
  return (
    <Page
      title={of.data ? of.data.name : id}
      actions={acts.map(
        (act) =>
          of.data &&
          !isOver &&
          act.isOffered?.(of.data) !== false && <ActButton key={act.button} act={act} of={of.data} onDone={changed} />,
      )}
    >
      <Loading of={of}>
        {(data) => [
          <p class="row wrap">
            {[data.status, ...attentionOf(data)].map((badge) => (
              <Badge key={badge} of={badge} />
            ))}
            <code class="quiet">{data.id}</code>
            <CopyButton text={() => data.id} what={`the ${word}’s id`} class="tiny" />
          </p>,
          parts.above?.(data, changed),
          <Balance of={data} usage={usage.data} use={parts.use(data)} />,
          <div class={parts.beside && 'two'}>
            <Loading of={usage}>
              {(page) => (
                <UsageChart
                  title={`by ${by}, ${DAYS} days`}
                  page={page}
                  url={url}
                  isByHour={false}
                  onPick={(first, end) => go(['requests'], { ...own, from: first, to: end })}
                  beside={
                    groups.length > 1 && <Segments label="Group by" options={options} value={by} url={url} name="by" />
                  }
                />
              )}
            </Loading>
            {parts.beside && <section class="panel">{parts.beside(data)}</section>}
          </div>,
          <Settings of={data} />,
          parts.below(data),
        ]}
      </Loading>
      <Panel
        title="Last requests"
        class="apart"
        beside={<a href={linkTo(['requests'], { ...own, range: '30d' })}>All requests of this {word}</a>}
      >
        <Rows
          of={{ ...requests, rows: requests.rows.slice(0, LAST_REQUESTS), hasMore: false }}
          caption="Last requests"
          columns={REQUEST_COLUMNS.filter(({ head }) => word !== 'key' || head !== 'Key')}
          by="request_id"
          empty={
            <Empty>
              This {word} has made no requests yet. <a href={linkTo(['playground'])}>Playground</a> shows how one looks.
            </Empty>
          }
        />
      </Panel>
      <Panel
        title="Changes"
        class="apart"
        beside={<a href={linkTo(['changes'], { key_id: id })}>All changes of this {word}</a>}
      >
        <Rows of={events} caption="Changes" columns={EVENTS} by="id" empty={<Empty>No change is on record.</Empty>} />
      </Panel>
      {hasGrants && (
        <Panel title="Grants" class="apart" beside={<a href={linkTo(['statements'], own)}>Statements</a>}>
          <Rows
            of={grants}
            caption="Grants"
            columns={GRANTS}
            by="id"
            empty={
              <Empty command={`${placeOf(id)[0]} grant ${shellWord(id)} 25`}>
                Nothing was granted since the {word} was made. <strong>Grant credits</strong> adds some, and so does
              </Empty>
            }
          />
        </Panel>
      )}
    </Page>
  )
}

const EVENTS = eventColumns()

const GRANTS: readonly Column<GrantShape>[] = [
  cell('When', (grant) => <Moment at={grant.granted_at} isBrief />, 'bare'),
  credits('Credits', (grant) => grant.credits),
  cell('Reference', (grant) => grant.reference, 'short'),
  cell('By', (grant) => <By of={grant.by} />, 'short'),
]

export const DAYS = 30

/** The balance of such a key is that of its customer, to whom credits are granted. */
function isShared(of: Detail): of is KeyDetail & { readonly account_id: string } {
  return of.object === 'key' && of.account_id !== null
}

type Use = readonly [lastUsedAt: string | null, use: string]

type BalanceProps = { readonly of: Detail; readonly usage: UsagePage | undefined; readonly use: Use }

function Balance({ of, usage, use: [lastUsedAt, use] }: BalanceProps) {
  const now = useNow(MINUTE_MS)
  const query = { ...filterOf(of.id), range: `${DAYS}d` }
  const days = usage?.data ?? []
  const charges = days.map(({ start_time: day, results }) => ({ day, cost: sumOf(results, (one) => Number(one.cost)) }))
  return (
    <div class="metrics">
      <Metric
        name="Balance"
        class="balance"
        value={
          isShared(of) ? <NameLink id={of.account_id} name={of.account_name} /> : <Credits of={of.available} withUnit />
        }
      >
        {isShared(of)
          ? [
              <p>Its balance is that of {of.account_name}.</p>,
              <p class="quiet">
                {part(of.available, 'with this key')}, {part(of.held, 'held')}, {part(of.spent, 'spent by it')}
              </p>,
            ]
          : [
              <LeftBar of={of} />,
              <p>{usage ? lastsText(of.available, charges, now) : 'Loading…'}</p>,
              <p class="quiet">
                {part(of.granted, 'granted')} = {part(of.available, 'available')} + {part(of.held, 'held')} +{' '}
                {part(of.spent, 'spent')}
              </p>,
            ]}
        {of.object === 'account' && (
          <p class="quiet">
            {part(of.available, 'available')} = {part(of.in_pool, 'with no key')} + {part(of.in_keys, 'with its keys')}{' '}
            + {part(of.in_flight, 'on the way')}
          </p>
        )}
        {of.object === 'key' && of.loss_today !== '0' && (
          <p title="What its requests may have cost beyond their charges">
            Lost today: <Credits of={of.loss_today} />
          </p>
        )}
      </Metric>
      <Metric
        name={`Charged in ${DAYS} days`}
        value={usage ? <Credits of={usage.total.cost} withUnit /> : '–'}
        href={linkTo(['usage'], query)}
        shape={{ of: charges.map(({ cost }) => cost), colour: 'c0' }}
      />
      <Metric
        name={`Requests in ${DAYS} days`}
        value={usage ? counted(usage.total.requests) : '–'}
        href={linkTo(['requests'], query)}
        shape={{ of: days.map(({ results }) => sumOf(results, (group) => group.requests)), colour: 'c1' }}
      >
        <p class="quiet">
          Last used <Moment at={lastUsedAt} isBrief />, {use}
        </p>
      </Metric>
    </div>
  )
}

function part(amount: string, name: string) {
  return (
    <span class="number">
      <Credits of={amount} /> {name}
    </span>
  )
}

/** The name is the title, and limits are shown beside their use. */
const SHOWN_ELSEWHERE = ['name', 'rpm', 'daily_limit', 'max_concurrent']

function Settings({ of }: { readonly of: Detail }) {
  const told = formOf(of).filter(({ field }) => !SHOWN_ELSEWHERE.includes(field))
  const facts = told.map((row) => {
    const value = (of as Readonly<Record<string, unknown>>)[row.field]
    const isMoment = row.kind === 'moment' && value
    return [row.label, isMoment ? <Moment at={String(value)} isEnd /> : shownText(row, value)] as const
  })
  const secret = of.object === 'key' && <code>{`${of.prefix}…${of.last_four}`}</code>
  return (
    <Panel title="Settings" class="apart">
      <Facts of={[...facts, ['Secret', secret], ['Created', <Moment at={of.created_at} isBrief />]]} />
    </Panel>
  )
}
