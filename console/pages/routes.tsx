import { useState } from 'preact/hooks'
import type { List } from '../../layers/admin/api/shapes/answers.ts'
import type { RouteShape, RouteTestShape } from '../../layers/admin/api/shapes/catalog.ts'
import { ask } from '../api.ts'
import { ActForm } from '../parts/act-form.tsx'
import { announce } from '../parts/announce.tsx'
import { Command } from '../parts/command.tsx'
import { Credits } from '../parts/credits.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Loading } from '../parts/loading.tsx'
import { Page } from '../parts/page.tsx'
import { Table } from '../parts/table.tsx'
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
  return (
    <Table
      caption="Routes, in the order tried"
      head={
        <>
          <th scope="col">Model</th>
          <th scope="col" class="number">
            Order
          </th>
          <th scope="col">Provider</th>
          <th scope="col">Its model</th>
          <th scope="col" class="number">
            First byte, ms
          </th>
          <th scope="col" class="number">
            Silence, ms
          </th>
          <th scope="col" class="number">
            Failures of 24 h
          </th>
          <th scope="col">Test</th>
        </>
      }
    >
      {routes.map((route) => (
        <tr key={nameOf(route)}>
          <th scope="row">{route.model}</th>
          <td class="number">{route.order}</td>
          <td>{route.provider}</td>
          <td>
            <code>{route.upstream_model}</code>
          </td>
          <td class="number">{route.first_byte_timeout_ms.toLocaleString('en-US')}</td>
          <td class="number">{route.idle_timeout_ms.toLocaleString('en-US')}</td>
          <td class="number">
            {route.failures_24h.toLocaleString('en-US')} of {route.requests_24h.toLocaleString('en-US')}
          </td>
          <td>
            <button type="button" aria-label={`Test ${route.model} by ${route.provider}`} onClick={() => onTest(route)}>
              Test
            </button>{' '}
            <Result of={tests[nameOf(route)]} />
          </td>
        </tr>
      ))}
    </Table>
  )
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
