import { useState } from 'preact/hooks'
import type { List } from '../../layers/admin/api/shapes/answers.ts'
import type { RouteShape, RouteTestShape } from '../../layers/admin/api/shapes/catalog.ts'
import { ask } from '../api.ts'
import { announce, Button } from '../parts/controls.tsx'
import { ActDialog } from '../parts/dialog.tsx'
import { counted, durationText } from '../parts/numbers.ts'
import { Empty, Loading, Page } from '../parts/page.tsx'
import { type Column, cell, extra, name, number, Table } from '../parts/table.tsx'
import { useLive } from '../parts/use-load.ts'
import { Badge, Credits, DASH, Moment, routeState, Took } from '../parts/values.tsx'
import { linkTo } from '../router.ts'

const POLL_MS = 30_000

export function Routes() {
  const routes = useLive<List<RouteShape>>('/routes', POLL_MS)
  const [asked, setAsked] = useState<RouteShape | undefined>(undefined)
  const [tests, setTests] = useState<Readonly<Record<string, RouteTestShape>>>({})
  const test = async ({ model, provider, upstream_model }: RouteShape) => {
    const { data } = await ask<List<RouteTestShape>>('/routes/test', { method: 'POST', body: { model, provider } })
    const result = data.find((tested) => tested.upstream_model === upstream_model)
    if (!result) throw new Error('The route is not in the catalog any more.')
    announce(`${model} by ${provider}: ${result.result}.`)
    setTests({ ...tests, [nameOf(result)]: result })
    setAsked(undefined)
  }
  const testColumn = cell<RouteShape>('Test', (route) => (
    <>
      <Button aria-label={`Test ${route.model} by ${route.provider}`} onClick={() => setAsked(route)}>
        Test
      </Button>{' '}
      <Result of={tests[nameOf(route)]} />
    </>
  ))
  return (
    <Page title="Routes">
      <Loading of={routes}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty command="catalog push catalog.json">
              The catalog has no active model. <strong>Put in force</strong> on the page Catalog changes it, and so does
            </Empty>
          ) : (
            [
              data.filter((route) => stateOf(route) === 'failing').map(failing),
              <Table
                caption="Routes, in the order tried"
                columns={[...COLUMNS, ...(data.some(patience) ? [PATIENCE] : []), testColumn]}
                rows={data}
              />,
            ]
          )
        }
      </Loading>
      {asked && (
        <ActDialog
          title={`Test ${asked.model} by ${asked.provider}?`}
          verb="Test"
          isRepeatable
          onAct={() => test(asked)}
          onClose={() => setAsked(undefined)}
        >
          <p>
            A short request is sent to <code>{asked.upstream_model}</code>. The provider bills it to you.
          </p>
        </ActDialog>
      )}
    </Page>
  )
}

function nameOf({ model, provider, upstream_model }: RouteShape | RouteTestShape): string {
  return JSON.stringify([model, provider, upstream_model])
}

function stateOf({ requests_24h, failures_24h }: RouteShape): string {
  return routeState(requests_24h, failures_24h)
}

function failing({ model, provider, requests_24h, failures_24h }: RouteShape) {
  return (
    <p class="notice bad">
      {model} by {provider} failed in {counted(failures_24h)} of {counted(requests_24h)} attempts in 24 hours.{' '}
      <a href={linkTo(['requests'], { model })}>See its requests</a>
    </p>
  )
}

const COLUMNS: readonly Column<RouteShape>[] = [
  name('Model', ({ model }) => <a href={linkTo(['catalog'], { model })}>{model}</a>),
  cell('State', (route) => [
    <Badge of={stateOf(route)} />,
    route.resting_until && (
      <small class="note" title="Each instance rests a failing route by itself, and tries others first.">
        may rest, ends <Moment at={route.resting_until} isBrief isEnd />
      </small>
    ),
  ]),
  cell('Served by', serverOf, 'fill'),
  number('Error rate, 24 h', errorRate),
  extra(
    number('First token p50, p95', ({ first_token_ms: { p50, p95 } }) => [<Took ms={p50} />, ', ', <Took ms={p95} />]),
  ),
  extra(
    number('Order', ({ order, priority, weight, share }) => (
      <span title={`priority ${priority}, weight ${weight}`}>
        {order}.{share < 1 && <span class="quiet"> {Math.round(100 * share)} %</span>}
      </span>
    )),
  ),
]

function serverOf({ provider, upstream_model, last_failure: last }: RouteShape) {
  return (
    <>
      {provider} <code class="quiet">{upstream_model}</code>
      {last && (
        <small class="note" title={last.result}>
          <a href={linkTo(['requests', last.request_id])}>{last.words}</a> <Moment at={last.at} isBrief />
        </small>
      )}
    </>
  )
}

function errorRate(route: RouteShape) {
  const { requests_24h: asked, failures_24h: failed, refused_24h: refused } = route
  if (asked === 0) return DASH
  return [
    <span class={stateOf(route) === 'ok' ? undefined : 'bad-text'}>{((100 * failed) / asked).toFixed(1)} %</span>,
    <span class="quiet">{` ${counted(failed)} of ${counted(asked)}`}</span>,
    refused > 0 && <small class="note">{counted(refused)} more refused: callers’ mistakes</small>,
  ]
}

const [USUAL_FIRST_MS, USUAL_IDLE_MS] = [300_000, 60_000]
const PATIENCE = extra(cell<RouteShape>('Gives up', patience))

/** Nothing of a route that waits as long as routes usually do. */
function patience({ first_byte_timeout_ms: first, idle_timeout_ms: idle }: RouteShape): string {
  const unanswered = first !== USUAL_FIRST_MS && `after ${durationText(first)}`
  const silent = idle !== USUAL_IDLE_MS && `after ${durationText(idle)} of silence`
  return [unanswered, silent].filter(Boolean).join(', ')
}

function Result({ of: test }: { readonly of: RouteTestShape | undefined }) {
  if (!test) return null
  return (
    <span class={test.ok ? 'good-text' : 'bad-text'}>
      {test.result}
      {test.first_token_ms !== null && `, first token after ${test.first_token_ms} ms`}
      {test.cost !== null && [', cost ', <Credits of={test.cost} />]}
    </span>
  )
}
