import { useState } from 'preact/hooks'
import { type ApiFailure, askCsv, failureFrom } from '../../api.ts'
import { Button } from '../../parts/button.tsx'
import { download } from '../../parts/download.ts'
import { Problem } from '../../parts/loading.tsx'
import { listUrl } from '../../parts/use-list.ts'
import type { Query } from '../../router.ts'

export function Csv({ query }: { readonly query: Query }) {
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
