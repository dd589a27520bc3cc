import { render } from 'preact'
import { useState } from 'preact/hooks'
import type { Shape } from '../../layers/admin/api/shapes/parts.ts'
import type { UsageRecord } from '../../layers/admin/api/shapes/usage-record.ts'
import { DAY_MS } from '../../layers/gateway/domain/basics/time.ts'
import { BRAND } from '../../layers/gateway/names.ts'
import { ask, askFile, connect } from '../api.ts'
import { asCurl, asPythonCode, asSdkCode } from '../pages/playground/as-code.ts'
import { Chart } from '../parts/chart.tsx'
import { Announcements, Button, CopyButton, download } from '../parts/controls.tsx'
import { dayText, lastsText, perMillion } from '../parts/numbers.ts'
import { Loading, Panel, Problem } from '../parts/page.tsx'
import { type Column, cell, count, credits, name, Rows, Table } from '../parts/table.tsx'
import { useList, useLoad, useSubmission } from '../parts/use-load.ts'
import { Credits, Status } from '../parts/values.tsx'

type ApiKey = {
  readonly name: string
  readonly balance: string | null
  readonly account: { readonly name: string; readonly shows_statements: boolean } | null
  readonly held: string
  readonly top_up_url: string | null
  readonly spent: string
  readonly key: { readonly last_four: string }
}
type Figures = { readonly requests: number; readonly total_tokens: number; readonly cost: string }
type DaySum = Figures & { readonly day: string }
type ModelSum = Figures & { readonly model: string | null }
type Sums<Sum> = {
  readonly data: readonly Sum[]
  readonly total: Figures
  readonly left_out: readonly unknown[]
}
type Request = Shape<typeof UsageRecord>
type Models = {
  readonly data: readonly {
    readonly id: string
    readonly kind: string
    readonly context_length: number
    readonly pricing: { readonly prompt: string; readonly completion: string; readonly input_cache_read: string }
  }[]
}

const HEADS: Readonly<Record<number, string>> = {
  401: 'This key is unknown, or has ended.',
  403: 'This key is refused here.',
  429: 'Too many requests.',
}

/** Asks with the caller's key, which goes into this header and nowhere else. */
function connectWith(secret: string): void {
  connect({
    base: '/v1',
    headers: () => ({ Authorization: `Bearer ${secret}` }),
    lost: 'No answer came. Try again.',
    wordsOf: (said, { status }) => [HEADS[status], said].filter(Boolean).join(' '),
  })
}

/** The key that was pasted is in the memory of this window only. */
function App() {
  const [apiKey, setKey] = useState<ApiKey | undefined>(undefined)
  const forget = () => {
    connectWith('')
    setKey(undefined)
  }
  return (
    <main>
      <header class="row wrap between title">
        <h1>Usage{apiKey && ` of ${apiKey.name}`}</h1>
        {apiKey && (
          <div class="row">
            <code>…{apiKey.key.last_four}</code>
            <Button onClick={forget}>Forget this key</Button>
          </div>
        )}
      </header>
      {apiKey ? <Panels apiKey={apiKey} /> : <KeyForm onOpened={setKey} />}
      <Announcements />
    </main>
  )
}

function KeyForm({ onOpened }: { readonly onOpened: (apiKey: ApiKey) => void }) {
  const [typed, setTyped] = useState('')
  const { isRunning, failure, run } = useSubmission()
  const open = (event: Event) => {
    event.preventDefault()
    connectWith(typed.trim())
    void run(async () => onOpened(await ask<ApiKey>('/key/introspect')))
  }
  return (
    <form class="panel" onSubmit={open}>
      <label class="field inside">
        <strong>Your key</strong>
        <input
          type="password"
          autocomplete="off"
          required
          placeholder={`${BRAND.keyPrefix}…`}
          value={typed}
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
        <span class="quiet">Kept by this window only.</span>
      </label>
      <button class="primary" type="submit" disabled={isRunning}>
        Show usage
      </button>
      <Problem failure={failure} />
    </form>
  )
}

const DAYS = 30

function Panels({ apiKey }: { readonly apiKey: ApiKey }) {
  const { balance, account } = apiKey
  const now = Date.now()
  const from = dayText(now - (DAYS - 1) * DAY_MS)
  const byDay = useLoad<Sums<DaySum>>(`/usage?group=day&from=${from}`)
  const byModel = useLoad<Sums<ModelSum>>(`/usage?group=model&from=${from}`)
  const requests = useList<Request>('/usage')
  const models = useLoad<Models>('/models')
  const days = byDay.data && lastDays(byDay.data, now)
  return (
    <div class="panels">
      <Panel title={balance ? `Balance${account ? ` of ${account.name}` : ''}` : 'Charged'} isRegion>
        <div class="metric">
          {balance && (
            <strong>
              <Credits of={balance} withUnit />
            </strong>
          )}
          {days && balance && !account && <p>{lastsText(balance, days, now)}</p>}
          {apiKey.top_up_url && <a href={apiKey.top_up_url}>Top up</a>}
          <p class="quiet">
            <Credits of={apiKey.spent} /> charged to this key, <Credits of={apiKey.held} /> held by open requests.
          </p>
          {account?.shows_statements && <Statement />}
        </div>
      </Panel>
      <Panel title={`Charged by day, last ${DAYS} days`} isRegion>
        <Loading of={byDay}>
          {({ left_out }) => [
            days && <Days of={days} />,
            left_out.length > 0 && <p class="notice warn">Too many requests: earlier ones of today are missing.</p>,
          ]}
        </Loading>
      </Panel>
      <Panel title={`By model, last ${DAYS} days`} isRegion>
        <Loading of={byModel}>
          {({ data, total }) => (
            <Table caption="Models" columns={MODEL_SUMS} rows={[...data, { ...total, model: 'All' }]} by="model" />
          )}
        </Loading>
      </Panel>
      <Panel title="Last requests" isRegion>
        <Rows
          of={requests}
          caption="Requests, newest first"
          columns={REQUESTS}
          by="request_id"
          empty={<p class="empty">None in the last 31 days.</p>}
        />
      </Panel>
      <Panel title="Models and prices" isRegion beside={<span class="quiet">Credits for a million tokens.</span>}>
        <Loading of={models}>{({ data }) => <Table caption="Prices" columns={PRICES} rows={data} by="id" />}</Loading>
      </Panel>
      <Code model={models.data?.data.find(({ kind }) => kind === 'chat')?.id ?? 'MODEL'} />
    </div>
  )
}

function Statement() {
  const { failure, run } = useSubmission()
  const save = (month: string) =>
    run(async () => download(`statement-${month}.html`, await askFile(`/statements/${month}`, 'text/html')))
  return [
    <label>
      Statement of <input type="month" onChange={(event) => void save(event.currentTarget.value)} />
    </label>,
    <Problem failure={failure} />,
  ]
}

function Days({ of: days }: { readonly of: readonly DaySum[] }) {
  return [
    <Chart
      caption="Credits charged by day"
      unit="credits"
      height={170}
      points={days}
      nameOf={({ day }) => day.slice(5)}
      series={[
        { label: 'charged', colour: 'c0', of: ({ cost }) => Number(cost), told: ({ cost }) => <Credits of={cost} /> },
      ]}
      isCounting
    />,
    <details>
      <summary>As a table</summary>
      <Table caption="Days" columns={DAY_SUMS} rows={days.filter((day) => day.requests > 0).toReversed()} by="day" />
    </details>,
  ]
}

function lastDays({ data }: Sums<DaySum>, nowMs: number): readonly DaySum[] {
  const known = new Map(data.map((one) => [one.day, one]))
  return Array.from({ length: DAYS }, (_, i) => {
    const day = dayText(nowMs - (DAYS - 1 - i) * DAY_MS)
    return known.get(day) ?? { day, requests: 0, total_tokens: 0, cost: '0' }
  })
}

const FIGURES: readonly Column<Figures>[] = [
  count('Requests', ({ requests }) => requests),
  count('Tokens', ({ total_tokens }) => total_tokens),
  credits('Charged', ({ cost }) => cost),
]
const DAY_SUMS: readonly Column<DaySum>[] = [name('UTC day', ({ day }) => day), ...FIGURES]
const MODEL_SUMS: readonly Column<ModelSum>[] = [
  { ...name('Model', ({ model }) => model ?? 'no model'), class: 'wide' },
  ...FIGURES,
]

const REQUESTS: readonly Column<Request>[] = [
  cell('Time', ({ started_at: at }) => (
    <time dateTime={at} title={at}>
      {new Date(at).toLocaleString()}
    </time>
  )),
  cell('Model', ({ model }) => model ?? '–', 'wide'),
  cell('Status', (row) => <Status of={row} />),
  count('Tokens', ({ total_tokens }) => total_tokens),
  credits('Charged', ({ cost }) => cost),
  cell('Request', ({ request_id: id }) => (
    <>
      <code title={id}>…{id.slice(-8)}</code> <CopyButton class="tiny" text={() => id} what={`the id ${id}`} />
    </>
  )),
]

const PRICES: readonly Column<Models['data'][number]>[] = [
  { ...name('Model', ({ id }) => id), class: 'wide' },
  credits('Input', ({ pricing }) => perMillion(pricing.prompt)),
  credits('Cached', ({ pricing }) => perMillion(pricing.input_cache_read)),
  credits('Output', ({ pricing }) => perMillion(pricing.completion)),
  count('Context', ({ context_length }) => context_length),
]

const SNIPPETS = { curl: asCurl, Python: asPythonCode, TypeScript: asSdkCode }

function Code({ model }: { readonly model: string }) {
  const baseUrl = `${location.origin}/v1`
  const asked = { baseUrl, body: { model, messages: [{ role: 'user', content: 'Hello' }] as const } }
  return (
    <Panel title="Code" isRegion>
      <p class="quiet">
        The base URL is <code>{baseUrl}</code>; <code>WAYBILL_KEY</code> is your key.
      </p>
      {Object.entries(SNIPPETS).map(([language, write]) => (
        <div key={language} class="inside">
          <h3 class="row between">
            {language} <CopyButton text={() => write(asked)} what={`the code for ${language}`} />
          </h3>
          <pre>{write(asked)}</pre>
        </div>
      ))}
    </Panel>
  )
}

render(<App />, document.body)
