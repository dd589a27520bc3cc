import { useState } from 'preact/hooks'
import type { RequestLine } from '../../layers/admin/api/shapes/requests.ts'
import { type ApiFailure, askCsv, failureFrom } from '../api.ts'
import { Button } from '../parts/button.tsx'
import { Command } from '../parts/command.tsx'
import { download } from '../parts/download.ts'
import { Select } from '../parts/field.tsx'
import { DAY_PATTERN, FilterField, filtersIn } from '../parts/filter-field.tsx'
import { Page } from '../parts/page.tsx'
import { Problem } from '../parts/problem.tsx'
import { REQUEST_COLUMNS } from '../parts/request-columns.tsx'
import { Rows } from '../parts/rows.tsx'
import { listUrl, useList } from '../parts/use-list.ts'
import type { PageUrl } from '../router.ts'

const FILTERS = ['key_id', 'from', 'to', 'outcome', 'model'] as const

export function Requests({ url }: { readonly url: PageUrl }) {
  const { query, filter } = filtersIn(url, FILTERS)
  const requests = useList<RequestLine>('/requests', query)
  return (
    <Page title="Requests" actions={<Csv query={query} />}>
      <div class="filters">
        <FilterField label="Key id" {...filter('key_id')} />
        <FilterField label="From (UTC day)" pattern={DAY_PATTERN} {...filter('from')} />
        <FilterField label="To, not included" pattern={DAY_PATTERN} {...filter('to')} />
        <Select
          label="Outcome"
          {...filter('outcome')}
          options={[
            ['', 'All'],
            ['completed', 'Completed'],
            ['refused', 'Refused'],
            ['upstream_error', 'Upstream error'],
            ['abandoned', 'Abandoned'],
          ]}
        />
        <FilterField label="Model" {...filter('model')} />
      </div>
      <Rows
        of={requests}
        caption="Requests, newest first"
        columns={REQUEST_COLUMNS}
        keyOf={(line) => line.request_id}
        empty={
          <>
            <p>
              No request is like this. The <strong>Playground</strong> makes one; the command line lists them with
            </p>
            <Command>usage list</Command>
          </>
        }
      />
    </Page>
  )
}

function Csv({ query }: { readonly query: Readonly<Record<string, string>> }) {
  const [isRunning, setRunning] = useState(false)
  const [failure, setFailure] = useState<ApiFailure | undefined>(undefined)
  const save = async () => {
    setRunning(true)
    try {
      download('requests.csv', await askCsv(listUrl('/requests', query)))
      setFailure(undefined)
    } catch (error) {
      setFailure(failureFrom(error))
    } finally {
      setRunning(false)
    }
  }
  return (
    <>
      <Button disabled={isRunning} onClick={() => void save()}>
        {isRunning ? 'Reading…' : 'Save as CSV'}
      </Button>
      <Problem failure={failure} />
    </>
  )
}
