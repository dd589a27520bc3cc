import { useState } from 'preact/hooks'
import type { List } from '../../layers/admin/api/shapes/answers.ts'
import type { RouteShape, RouteTestShape } from '../../layers/admin/api/shapes/catalog.ts'
import { ask } from '../api.ts'
import { ActForm } from '../parts/act-form.tsx'
import { announce } from '../parts/announce.tsx'
import { Button } from '../parts/button.tsx'
import { Command } from '../parts/command.tsx'
import { Credits } from '../parts/credits.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Loading } from '../parts/loading.tsx'
import { Page } from '../parts/page.tsx'
import { type Column, cell, count, name, number, Table } from '../parts/table.tsx'
import { useLoad } from '../parts/use-load.ts'
import { useSubmission } from '../parts/use-submission.ts'

type Tests = Readonly<Record<string, RouteTestShape>>

export function Routes() {
  const routes = useLoad<List<RouteShape>>('/routes')
  const [asked, setAsked] = useState<RouteShape | undefined>(undefined)
  const [tests, setTests] = useState<Tests>({})
  return (
    <Page title="Routes">
      <Loading of={routes}>
        {({ data }) =>
          data.length === 0 ? (
            <div class="empty">
              <p>
                The catalog has no active model. <strong>Put in force</strong> on the page Catalog changes it, and so
                does
              </p>
              <Command>catalog push catalog.json</Command>
            </div>
          ) : (
            <RouteTable routes={data} tests={tests} onTest={setAsked} />
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
    name('Model', (route) => route.model),
    number('Order', (route) => route.order),
    cell('Provider', (route) => route.provider),
    cell('Its model', (route) => <code>{route.upstream_model}</code>),
    count('First byte, ms', (route) => route.first_byte_timeout_ms),
    count('Silence, ms', (route) => route.idle_timeout_ms),
    number('Failures of 24 h', ({ failures_24h, requests_24h }) => {
      return `${failures_24h.toLocaleString('en-US')} of ${requests_24h.toLocaleString('en-US')}`
    }),
    cell('Test', (route) => (
      <>
        <Button aria-label={`Test ${route.model} by ${route.provider}`} onClick={() => onTest(route)}>
          Test
        </Button>{' '}
        <Result of={tests[nameOf(route)]} />
      </>
    )),
  ]
  return <Table caption="Routes, in the order tried" columns={columns} rows={routes} keyOf={nameOf} />
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
  const submission = useSubmission()
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
    <Dialog title={`Test ${route.model} by ${route.provider}?`} onClose={onClose}>
      <ActForm submission={submission} verb="Test" isRepeatable onSubmit={test} onClose={onClose}>
        <p>
          A short request is sent to <code>{route.upstream_model}</code>. The provider bills it to you.
        </p>
      </ActForm>
    </Dialog>
  )
}
