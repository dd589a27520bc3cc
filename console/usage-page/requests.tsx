import { useState } from 'preact/hooks'
import { Button } from '../parts/button.tsx'
import { CopyButton } from '../parts/copy-button.tsx'
import { Credits } from '../parts/credits.tsx'
import { Status } from '../parts/status.tsx'
import { ask, type Failure, type List, type Request } from './ask.ts'
import { Part } from './part.tsx'
import { useAnswer } from './use-answer.ts'

const PATH = 'usage?limit=50'

/** The last requests, line by line, without the calls that asked no model, such as those of this page. */
export function Requests({ secret }: { readonly secret: string }) {
  const first = useAnswer<List<Request>>(secret, PATH)
  const [more, setMore] = useState<List<Request>>({ data: [] })
  const [failure, setFailure] = useState<Failure | undefined>(undefined)
  const older = (after: string) =>
    ask<List<Request>>(secret, `${PATH}&after=${after}`).then(
      (page) => {
        setFailure(undefined)
        setMore({ ...page, data: [...more.data, ...page.data] })
      },
      (lost: Failure) => setFailure(lost),
    )
  return (
    <Part title="Last requests" of={first}>
      {(answer) => {
        const { has_more: hasMore, last_id: lastId } = more.last_id ? more : answer
        const shown = [...answer.data, ...more.data].filter(({ contract }) => contract !== null)
        return (
          <>
            {shown.length === 0 ? <p class="quiet">No model was asked in the last 31 days.</p> : <Rows of={shown} />}
            {failure && (
              <p class="notice" role="alert">
                {failure.message}
              </p>
            )}
            {hasMore && lastId && <Button onClick={() => void older(lastId)}>Older requests</Button>}
          </>
        )
      }}
    </Part>
  )
}

function Rows({ of: rows }: { readonly of: readonly Request[] }) {
  return (
    <table class="cards">
      <thead>
        <tr>
          <th scope="col">Time</th>
          <th scope="col">Model</th>
          <th scope="col">Status</th>
          <th scope="col">Tokens</th>
          <th scope="col">Charged</th>
          <th scope="col">Request</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.request_id}>
            <td>
              <time dateTime={row.started_at} title={row.started_at}>
                {new Date(row.started_at).toLocaleString()}
              </time>
            </td>
            <td class="name">{row.model ?? '–'}</td>
            <td>
              <Status of={row} />
            </td>
            <td>{row.total_tokens.toLocaleString('en')}</td>
            <td>
              <Credits of={row.cost} />
            </td>
            <td>
              <code title={row.request_id}>…{row.request_id.slice(-8)}</code>{' '}
              <CopyButton text={() => row.request_id} what={`the id ${row.request_id}`} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
