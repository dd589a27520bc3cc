import { useState } from 'preact/hooks'
import type { Statement } from '../../layers/gateway/domain/rows/statement.ts'
import { statementPage } from '../../layers/gateway/domain/rows/statement-page.ts'
import { type ApiFailure, ask, failureFrom } from '../api.ts'
import { Button, download } from './controls.tsx'
import { Problem } from './panel.tsx'

/** Saves the statement of a month as a page to print. */
export function StatementForm({ path }: { readonly path: string }) {
  const [month, setMonth] = useState('')
  const [failure, setFailure] = useState<ApiFailure | undefined>(undefined)
  const save = async () => {
    try {
      const statement = await ask<Statement>(`${path}/statements/${month}`)
      download(`statement-${month}.html`, new Blob([statementPage(statement)], { type: 'text/html' }))
      setFailure(undefined)
    } catch (error) {
      setFailure(failureFrom(error))
    }
  }
  return (
    <div>
      <p class="row wrap">
        <label>
          Statement of{' '}
          <input
            type="month"
            placeholder="2026-10"
            value={month}
            onInput={(event) => setMonth(event.currentTarget.value)}
          />
        </label>
        <Button disabled={!/^\d{4}-\d\d$/.test(month)} onClick={() => void save()}>
          Save
        </Button>
      </p>
      <Problem failure={failure} />
    </div>
  )
}
