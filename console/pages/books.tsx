import { useEffect, useRef, useState } from 'preact/hooks'
import type { AuditLine } from '../../layers/admin/api/shapes/books.ts'
import type { Overview } from '../../layers/admin/api/shapes/usage.ts'
import { type ApiFailure, askLines, failureFrom, isAbort } from '../api.ts'
import { announce } from '../parts/announce.tsx'
import { Badge } from '../parts/badge.tsx'
import { Button } from '../parts/button.tsx'
import { Command } from '../parts/command.tsx'
import { Credits } from '../parts/credits.tsx'
import { KeyLink, RequestLink } from '../parts/links.tsx'
import { Moment } from '../parts/moment.tsx'
import { Page } from '../parts/page.tsx'
import { Problem } from '../parts/problem.tsx'
import { type Column, cell, credits, name, number, Table } from '../parts/table.tsx'
import { useLoad } from '../parts/use-load.ts'

type KeyLine = Extract<AuditLine, { object: 'audit' }>
type Summary = Extract<AuditLine, { object: 'audit.summary' }>

type Run = {
  readonly isRunning: boolean
  readonly lines: readonly KeyLine[]
  readonly summary?: Summary
  readonly failure?: ApiFailure
}

/** Lines come faster than a page can be painted. */
const PAINT_MS = 200

export function Books() {
  const overview = useLoad<Overview>('/overview')
  const [run, setRun] = useState<Run | undefined>(undefined)
  const running = useRef<AbortController | undefined>(undefined)
  useEffect(() => () => running.current?.abort(), [])

  const start = async () => {
    const own = new AbortController()
    running.current = own
    const lines: KeyLine[] = []
    let paintedAt = 0
    setRun({ isRunning: true, lines: [] })
    try {
      for await (const line of askLines<AuditLine>('/audits', { method: 'POST', signal: own.signal })) {
        if (line.object === 'audit.summary') {
          setRun({ isRunning: false, lines: inOrder(lines), summary: line })
          announce(line.wrong === 0 ? `The books of ${line.keys} keys balance.` : `${line.wrong} keys do not balance.`)
          return
        }
        lines.push(line)
        if (performance.now() - paintedAt < PAINT_MS) continue
        paintedAt = performance.now()
        setRun({ isRunning: true, lines: inOrder(lines) })
      }
      throw new Error('The audit broke off before its end: what is listed was looked at, and nothing else.')
    } catch (error) {
      setRun({ isRunning: false, lines: inOrder(lines), ...(!isAbort(error) && { failure: failureFrom(error) }) })
    }
  }
  return (
    <Page
      title="Books"
      actions={
        run?.isRunning ? (
          <Button onClick={() => running.current?.abort()}>Stop</Button>
        ) : (
          <Button class="primary" onClick={() => void start()}>
            Run the audit
          </Button>
        )
      }
    >
      <p>
        The audit proves of every key that granted = available + held + spent, and that its rows come to what it has
        spent.
      </p>
      {!run && <LastAudit of={overview.data} />}
      {run && <Outcome of={run} />}
    </Page>
  )
}

/** The faulty ones first. */
function inOrder(lines: readonly KeyLine[]): KeyLine[] {
  return lines.toSorted((a, b) => Number(a.ok) - Number(b.ok))
}

function LastAudit({ of: overview }: { readonly of: Overview | undefined }) {
  if (!overview) return null
  const { last_audit } = overview
  return (
    <div class="empty">
      {last_audit ? (
        <p>
          Last proven <Moment at={last_audit.at} />: {last_audit.wrong} of {last_audit.keys} keys were wrong.
        </p>
      ) : (
        <p>
          The books were not proven yet. <strong>Run the audit</strong> does it, and so does
        </p>
      )}
      <Command>audit</Command>
    </div>
  )
}

function Outcome({ of: { isRunning, lines, summary, failure } }: { readonly of: Run }) {
  return (
    <>
      <p role="status">
        {summary ? (
          <>
            <Badge of={summary.wrong === 0 ? 'balanced' : 'wrong'} /> {summary.keys} keys, {summary.wrong} wrong, at{' '}
            <Moment at={summary.at} />
          </>
        ) : (
          `${lines.length} keys looked at${isRunning ? '…' : '; stopped before the end.'}`
        )}
      </p>
      <Problem failure={failure} />
      {lines.length > 0 && (
        <Table caption="Keys, as they were looked at" columns={COLUMNS} rows={lines} keyOf={(line) => line.key_id} />
      )}
    </>
  )
}

const COLUMNS: readonly Column<KeyLine>[] = [
  name('Key', (line) => <KeyLink id={line.key_id} name={line.name} />),
  cell(
    'Result',
    (line) => (
      <>
        <Badge of={line.ok ? 'balanced' : 'wrong'} />
        <Findings of={line} />
      </>
    ),
    'wide',
  ),
  credits('Granted', (line) => line.granted),
  credits('Available', (line) => line.available),
  credits('Held', (line) => line.held),
  credits('Spent', (line) => line.spent),
  number('Its rows', (line) => (
    <>
      <Credits of={line.row_costs} /> in {line.rows.toLocaleString('en-US')}
    </>
  )),
]

function Findings({ of: { findings, more_findings, ok } }: { readonly of: KeyLine }) {
  if (findings.length === 0) return null
  return (
    <details open={!ok}>
      <summary>{findings.length + more_findings} findings</summary>
      <ul class="plain">
        {findings.map(({ about, text, note }) => (
          <li key={about + text}>
            {/^req_/.test(about) ? <RequestLink id={about} /> : about}: {text}
            {note && <span class="quiet"> (a note)</span>}
          </li>
        ))}
        {more_findings > 0 && <li>and {more_findings} more</li>}
      </ul>
    </details>
  )
}
