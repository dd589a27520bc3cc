import { useState } from 'preact/hooks'
import type { List } from '../../layers/admin/api/shapes/answers.ts'
import type { RouteShape, RouteTestShape } from '../../layers/admin/api/shapes/catalog.ts'
import { ask } from '../api.ts'
import { announce, Button } from '../parts/controls.tsx'
import { ActDialog } from '../parts/dialog.tsx'
import { Loading } from '../parts/loading.tsx'
import { counted, durationText } from '../parts/numbers.ts'
import { Page } from '../parts/page.tsx'
import { Empty } from '../parts/panel.tsx'
import { type Column, cell, name, number, Table } from '../parts/table.tsx'
import { useLive } from '../parts/use-load.ts'
import { Badge, Credits, Moment, routeState, Took } from '../parts/values.tsx'
import { linkTo } from '../router.ts'

const POLL_MS = 30_000

type Tests = Readonly<Record<string, RouteTestShape>>

export function Routes() {
  const routes = useLive<List<RouteShape>>('/routes', POLL_MS)
  const [asked, setAsked] = useState<RouteShape | undefined>(undefined)
  const [tests, setTests] = useState<Tests>({})
  return (
    <Page title="Routes">
      <Loading of={routes}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty command="catalog push catalog.json">
              The catalog has no active model. <strong>Put in force</strong> on the page Catalog changes it, and so does
            </Empty>
          ) : (
            <>
              <Failing of={data} />
              <RouteTable routes={data} tests={tests} onTest={setAsked} />
            </>
          )
        }
      </Loading>
      {asked && (
        <TestRoute
          of={asked}
          onClose={() => setAsked(undefined)}
          onDone={(test) => {
            setTests({ ...tests, [nameOf(asked)]: test })
            setAsked(undefined)
          }}
        />
      )}
    </Page>
  )
}

/** Routes that an operator should look at, before the table. */
function Failing({ of: routes }: { readonly of: readonly RouteShape[] }) {
  const failing = routes.filter((route) => routeState(route.requests_24h, route.failures_24h) === 'failing')
  return (
    <>
      {failing.map((route) => (
        <p key={nameOf(route)} class="notice bad">
          {route.model} by {route.provider} failed in {counted(route.failures_24h)} of {counted(route.requests_24h)}{' '}
          attempts in 24 hours. <a href={linkTo(['requests'], { model: route.model })}>See its requests</a>
        </p>
      ))}
    </>
  )
}

function nameOf({ model, provider, upstream_model }: RouteShape): string {
  return JSON.stringify([model, provider, upstream_model])
}

type TableProps = {
  readonly routes: readonly RouteShape[]
  readonly tests: Tests
  readonly onTest: (route: RouteShape) => void
}

function RouteTable({ routes, tests, onTest }: TableProps) {
  const columns: readonly Column<RouteShape>[] = [
    name('Model', (route) => <a href={linkTo(['catalog'], { model: route.model })}>{route.model}</a>),
    cell('State', (route) => <State of={route} />),
    cell(
      'Served by',
      (route) => (
        <>
          {route.provider} <code class="quiet">{route.upstream_model}</code>
          <LastFailure of={route} />
        </>
      ),
      'fill',
    ),
    number('Error rate, 24 h', (route) => <ErrorRate of={route} />),
    number('First token p50, p95', ({ first_token_ms: { p50, p95 } }) => (
      <>
        <Took ms={p50} />, <Took ms={p95} />
      </>
    )),
    number('Order', ({ order, priority, weight, share }) => (
      <span title={`priority ${priority}, weight ${weight}`}>
        {order}.{share < 1 && <span class="quiet"> {Math.round(100 * share)} %</span>}
      </span>
    )),
    ...(routes.some(patience) ? [cell<RouteShape>('Gives up', (route) => patience(route))] : []),
    cell('Test', (route) => (
      <>
        <Button aria-label={`Test ${route.model} by ${route.provider}`} onClick={() => onTest(route)}>
          Test
        </Button>{' '}
        <Result of={tests[nameOf(route)]} />
      </>
    )),
  ]
  return <Table caption="Routes, in the order tried" columns={columns} rows={routes} />
}

function State({ of: { requests_24h, failures_24h, resting_until } }: { readonly of: RouteShape }) {
  return (
    <>
      <Badge of={routeState(requests_24h, failures_24h)} />
      {resting_until && (
        <span class="note" title="Each instance rests a failing route by itself, and tries others first.">
          may rest, ends <Moment at={resting_until} isBrief />
        </span>
      )}
    </>
  )
}

function LastFailure({ of: { last_failure: last } }: { readonly of: RouteShape }) {
  if (!last) return null
  return (
    <span class="note" title={last.result}>
      <a href={linkTo(['requests', last.request_id])}>{last.words}</a> <Moment at={last.at} isBrief />
    </span>
  )
}

function ErrorRate({ of: { requests_24h: asked, failures_24h: failed } }: { readonly of: RouteShape }) {
  if (asked === 0) return <span class="quiet">–</span>
  const rate = (100 * failed) / asked
  return (
    <>
      <span class={failed > 0 && routeState(asked, failed) !== 'ok' ? 'bad-text' : undefined}>{rate.toFixed(1)} %</span>{' '}
      <span class="quiet">
        {counted(failed)} of {counted(asked)}
      </span>
    </>
  )
}

const [USUAL_FIRST_MS, USUAL_IDLE_MS] = [300_000, 60_000]

/** Nothing of a route that waits as long as routes usually do. */
function patience({ first_byte_timeout_ms: first, idle_timeout_ms: idle }: RouteShape): string {
  return [
    first !== USUAL_FIRST_MS && `after ${durationText(first)}`,
    idle !== USUAL_IDLE_MS && `after ${durationText(idle)} of silence`,
  ]
    .filter(Boolean)
    .join(', ')
}

function Result({ of: test }: { readonly of: RouteTestShape | undefined }) {
  if (!test) return null
  return (
    <span class={test.ok ? 'good-text' : 'bad-text'}>
      {test.result}
      {test.first_token_ms !== null && `, first token after ${test.first_token_ms} ms`}
      {test.cost !== null && (
        <>
          , cost <Credits of={test.cost} />
        </>
      )}
    </span>
  )
}

type TestProps = {
  readonly of: RouteShape
  readonly onDone: (test: RouteTestShape) => void
  readonly onClose: () => void
}

function TestRoute({ of: route, onDone, onClose }: TestProps) {
  const test = async () => {
    const { model, provider, upstream_model } = route
    const body = { model, provider }
    const { data } = await ask<List<RouteTestShape>>('/routes/test', { method: 'POST', body })
    const result = data.find((tested) => tested.upstream_model === upstream_model)
    if (!result) throw new Error('The route is not in the catalog any more.')
    announce(`${model} by ${provider}: ${result.result}.`)
    onDone(result)
  }
  return (
    <ActDialog
      title={`Test ${route.model} by ${route.provider}?`}
      verb="Test"
      isRepeatable
      onAct={test}
      onClose={onClose}
    >
      <p>
        A short request is sent to <code>{route.upstream_model}</code>. The provider bills it to you.
      </p>
    </ActDialog>
  )
}
