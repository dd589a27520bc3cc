import type { BillLineShape, RequestShape, TriedRouteShape } from '../../layers/admin/api/shapes/requests.ts'
import { colourIn } from '../parts/chart.tsx'
import { CopyButton } from '../parts/controls.tsx'
import { counted, durationText, sumOf } from '../parts/numbers.ts'
import { Facts, Loading, Page, Panel } from '../parts/page.tsx'
import { type Column, cell, count, credits, name, number, Table } from '../parts/table.tsx'
import { useLive } from '../parts/use-load.ts'
import { Badge, Credits, DASH, KeyName, Moment, RequestLink, Status, Took } from '../parts/values.tsx'
import type { PageUrl } from '../router.ts'
import { customerText, explained, type RowFacts, tokensPerSecond } from './request/row-facts.ts'

/** An open request may settle any moment. */
const LIVE_MS = 4000

export function RequestPage({ url }: { readonly url: PageUrl }) {
  const [, id = ''] = url.path
  const paceOf = (found?: RequestShape) => (found?.state === 'open' ? LIVE_MS : undefined)
  const request = useLive(`/requests/${encodeURIComponent(id)}`, paceOf)
  const { data } = request
  return (
    <Page
      title="Request"
      actions={
        <>
          <CopyButton text={() => id} what="the request's id" label="Copy id" />
          {data && (
            <CopyButton
              text={() => customerText(data)}
              what="the request in words, without its cost to us"
              label="Copy for the customer"
            />
          )}
        </>
      }
    >
      <p>
        <code>{id}</code>
      </p>
      <Loading of={request}>{(found) => <Waybill of={found} />}</Loading>
    </Page>
  )
}

function Waybill({ of: request }: { readonly of: RequestShape }) {
  const { bill, row } = request
  const facts: RowFacts = row ?? {}
  return [
    <Summary of={request} />,
    <Notices of={request} />,
    request.attempts.length > 0 && <Attempts of={request.attempts} row={facts} />,
    bill.length > 0 && <Bill of={request} />,
    <Panel title="Details" class="apart">
      <Facts
        of={[
          ['Endpoint', facts.endpoint && (facts.stream ? `${facts.endpoint}, streamed` : facts.endpoint)],
          ['Counted by', bill.length > 0 && explained(request, 'counted by')],
          ...EXPLAINED.map((name) => [name, explained(request, name.toLowerCase())] as const),
        ]}
      />
      {row && (
        <details>
          <summary>The row as it is stored</summary>
          <pre>{JSON.stringify(row, null, 2)}</pre>
        </details>
      )}
    </Panel>,
  ]
}

const EXPLAINED = ['User', 'Tags', 'Held', 'Loss', 'Stop reason', 'State']

type Props = { readonly of: RequestShape }

function Summary({ of: request }: Props) {
  const facts: RowFacts = request.row ?? {}
  const { http_status = 0, outcome = '', error_code = null } = facts
  const { model, fallback_model: fallback, provider, upstream_model: upstream } = facts
  return [
    <section class="panel row wrap headline" aria-label="Summary">
      <div>{request.row ? <Status of={{ http_status, outcome, error_code }} /> : <Badge of="open" />}</div>
      <div>
        <strong>{model ?? facts.endpoint ?? 'Still running, or dead'}</strong>
        {provider && (
          <small class="note">
            {fallback && `${fallback} `}by {provider}
            {upstream && upstream !== (fallback ?? model) && ` as ${upstream}`}
          </small>
        )}
      </div>
      <div>
        <KeyName of={request} />
        <small class="note">{facts.started_at && <Moment at={facts.started_at} />}</small>
      </div>
    </section>,
    request.row && (
      <Facts
        class="figures"
        of={[
          ['Duration', <Took ms={facts.duration_ms} />],
          ['First token', <Took ms={facts.ttft_ms} />],
          ['Tokens a second', tokensPerSecond(facts)?.toFixed(1) ?? DASH],
          ['Charged', facts.cost === undefined ? DASH : <Credits of={facts.cost} withUnit />],
          ['Margin', <Margin of={request.margin} in={facts.cost} />],
        ]}
      />
    ),
  ]
}

function Margin({ of, in: whole }: { readonly of: string | null; readonly in: string | undefined }) {
  if (of === null) return <span title="The cost to us is not known">{DASH}</span>
  const percent = ((100 * Number(of)) / Number(whole)).toFixed(1)
  return [<Credits of={of} />, ' ', Number(whole) > 0 && <small class="number">{percent} %</small>]
}

function Notices({ of: request }: Props) {
  const { hold, bill } = request
  const facts: RowFacts = request.row ?? {}
  const isFailed = facts.outcome !== undefined && facts.outcome !== 'completed'
  const why = bill.length === 0 && explained(request, 'charged')
  const whyCharged = isFailed && explained(request, '')
  const { model, fallback_model: fallback, lowered_max_tokens: lowered, dropped_fields: dropped } = facts
  const beyond = facts.asked_max_tokens
    ? `the most that ${model} generates; ${counted(facts.asked_max_tokens)} were asked for.`
    : 'the most that its credits and limits covered. A longer answer was cut there.'
  const warnings = {
    'Answered by a fallback': fallback && `${fallback} answered in place of ${model}, at the price of ${model}.`,
    'Output cap lowered': lowered && `to ${counted(lowered)} tokens, ${beyond}`,
    'Fields left out': dropped && `${dropped}, as the catalog tells for ${facts.provider}.`,
  }
  return [
    hold && (
      <p class="notice warn">
        <Credits of={hold.amount} withUnit /> held until <Moment at={hold.until} isEnd />.{' '}
        {hold.expired && 'Its request is dead, and the sweep will give the credits back.'}
      </p>
    ),
    Object.entries(warnings).map(
      ([title, text]) =>
        text && (
          <p key={title} class="notice warn">
            <strong>{title}:</strong> {text}
          </p>
        ),
    ),
    facts.replay_of && (
      <p class="notice">
        The stored answer of <RequestLink id={facts.replay_of} /> once more, for the same Idempotency-Key.
      </p>
    ),
    why && <p class={isFailed ? 'notice bad' : 'notice'}>Charged {why}.</p>,
    whyCharged && (
      <p class="notice bad">
        <strong>Charged although it failed:</strong> {whyCharged}.
      </p>
    ),
  ]
}

type Timed = TriedRouteShape & {
  readonly startMs: number
  readonly totalMs: number
  readonly waitMs: number
}

const ATTEMPT_COLUMNS: readonly Column<Timed>[] = [
  name('Provider', ({ provider, model }) => [provider, ' ', <code class="quiet">{model}</code>]),
  cell('Result', resultOf, 'wide'),
  number('Took', ({ ms }) => <Took ms={ms} />),
  cell('Time', barOf, 'bar-cell'),
]

function Attempts({ of: attempts, row }: { readonly of: readonly TriedRouteShape[]; readonly row: RowFacts }) {
  const msOf = ({ ms }: TriedRouteShape) => ms
  const askedMs = sumOf(attempts, msOf)
  const totalMs = Math.max(1, askedMs, row.duration_ms ?? 0)
  // The gateway's own work is before the first of them.
  const ownMs = totalMs - askedMs
  const timed = attempts.map((attempt, i) => {
    const startMs = ownMs + sumOf(attempts.slice(0, i), msOf)
    const isLast = i === attempts.length - 1
    return { ...attempt, startMs, totalMs, waitMs: isLast && row.ttft_ms ? Math.max(0, row.ttft_ms - startMs) : 0 }
  })
  const inAll = `${durationText(totalMs)} in all${ownMs > 0 ? `, ${durationText(ownMs)} of them in the gateway` : ''}`
  return (
    <Panel title="Attempts" class="apart" beside={<span class="quiet">{inAll}</span>}>
      <Table caption="Attempts, in the order tried" columns={ATTEMPT_COLUMNS} rows={timed} />
    </Panel>
  )
}

function isAnswer(result: string): boolean {
  return result === 'ok' || result === 'beyond_cap'
}

function resultOf({ result, words, said }: Timed) {
  const [reason, status] = result.split(' ')
  return [
    <span class={`badge ${isAnswer(result) ? 'good' : 'bad'}`} title={result}>
      {status ?? (isAnswer(result) ? 'ok' : reason)}
    </span>,
    words,
    said && <small class="note">{said}</small>,
  ]
}

/** Pale until the first token came. */
function barOf({ result, ms, startMs, totalMs, waitMs }: Timed) {
  const x = (at: number) => (1000 * at) / totalMs
  const shape = { fill: colourIn(isAnswer(result) ? 'c0' : 'bad'), height: 10 }
  return (
    <svg width="100%" height="1rem" viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true">
      <rect fill="var(--line)" width="1000" height="10" />
      <rect {...shape} opacity={waitMs > 0 ? 0.4 : 1} x={x(startMs)} width={Math.max(4, x(ms))} />
      {waitMs > 0 && <rect {...shape} x={x(startMs + waitMs)} width={x(Math.max(0, ms - waitMs))} />}
    </svg>
  )
}

/** A sum has neither a count nor a price. */
type BillLine = Partial<BillLineShape> & Pick<BillLineShape, 'what' | 'amount'>

const BILL_COLUMNS: readonly Column<BillLine>[] = [
  name('What', (line) => line.what),
  count('Count', (line) => line.quantity),
  number('Price', ({ price, per }) => price && `${price} ${per === 'million' ? 'per million' : 'each'}`),
  credits('Amount', (line) => line.amount),
]

function Bill({ of: request }: Props) {
  const { bill, row, upstream_cost, upstream_cost_source, margin } = request
  const above = row?.pricing?.above
  const sums = [
    ['Charged', row?.cost],
    [`Provider cost${upstream_cost_source === 'provider' ? ', as the provider states it' : ''}`, upstream_cost],
    ['Margin', margin],
  ] as const
  const told: BillLine[] = sums.flatMap(([what, amount]) => (amount == null ? [] : [{ what, amount }]))
  return (
    <Panel
      title="The charge"
      class="apart"
      beside={above !== undefined && <span class="quiet">At the price above {counted(above)} prompt tokens</span>}
    >
      <Table
        caption="The charge, line by line"
        columns={BILL_COLUMNS}
        rows={[...bill, ...told]}
        by="what"
        classOf={({ price }) => (price ? undefined : 'sum')}
      />
    </Panel>
  )
}
