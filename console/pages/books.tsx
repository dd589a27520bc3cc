import { useEffect } from 'preact/hooks'
import type { AuditLine } from '../../layers/admin/api/shapes/books.ts'
import type { Overview } from '../../layers/admin/api/shapes/usage.ts'
import { type ApiFailure, askLines, failureFrom, isAbort } from '../api.ts'
import { announce, Button } from '../parts/controls.tsx'
import { counted, countOf } from '../parts/numbers.ts'
import { Command, Lines, Loading, Page, Panel, Problem } from '../parts/page.tsx'
import { type Column, cell, credits, name, number, Table } from '../parts/table.tsx'
import { useLatest, useLoad } from '../parts/use-load.ts'
import { Badge, Credits, Moment, NameLink, RequestLink } from '../parts/values.tsx'
import { shared } from '../preferences.ts'
import { linkTo, type PageUrl } from '../router.ts'

type KeyLine = Extract<AuditLine, { object: 'audit' }>
type Line = (KeyLine | Extract<AuditLine, { object: 'account.audit' }>) & { readonly id: string }
type Summary = Extract<AuditLine, { object: 'audit.summary' }>

type Run = {
  readonly isRunning: boolean
  readonly lines: readonly Line[]
  readonly summary?: Summary
  readonly failure?: ApiFailure
}

/** The last run of this window is shown again when the page is. */
const lastRun = shared<Run | undefined>(undefined)

export function Books({ url }: { readonly url: PageUrl }) {
  const overview = useLoad<Overview>('/overview')
  const run = lastRun.use()
  const { begin, stop } = useLatest()

  const start = async () => {
    const signal = begin()
    const lines: Line[] = []
    lastRun.set({ isRunning: true, lines: [] })
    try {
      for (let after: string | null | undefined; after !== null; ) {
        const sent = { method: 'POST', body: { after }, signal } as const
        let end: Summary | undefined
        for await (const line of askLines<AuditLine>('/audits', sent)) {
          if (line.object === 'audit.summary') end = line
          else lines.push({ ...line, id: line.object === 'audit' ? line.key_id : line.account_id })
        }
        if (!end) throw new Error('The check broke off before its end: what is listed was looked at, and nothing else.')
        after = end.last_id
        lastRun.set({ isRunning: after !== null, lines: inOrder(lines), ...(after === null && { summary: end }) })
        if (after === null) announce(`Looked at ${audited(end)}: ${end.wrong} wrong.`)
      }
    } catch (error) {
      lastRun.set({ isRunning: false, lines: inOrder(lines), ...(!isAbort(error) && { failure: failureFrom(error) }) })
    }
  }
  const isAsked = url.query.get('act') === 'run'
  useEffect(() => {
    if (!isAsked) return
    location.replace(linkTo(['books']))
    void start()
  }, [isAsked])
  const { isRunning, lines, summary, failure }: Partial<Run> = run ?? {}
  return (
    <Page
      title="Books"
      actions={
        <Button class={isRunning ? '' : 'primary'} onClick={isRunning ? stop : start}>
          {isRunning ? 'Stop' : 'Run the ledger check'}
        </Button>
      }
    >
      <Panel title="Ledger check">
        <p>
          It proves for every key and every customer that granted = available + held + spent, and that the requests of a
          key come to what it has spent.
        </p>
        {!lines && <Loading of={overview}>{lastAudit}</Loading>}
      </Panel>
      {lines && (
        <p role="status">
          {summary
            ? [
                result(summary.wrong === 0),
                ` ${audited(summary)}, ${summary.wrong} wrong, at `,
                <Moment at={summary.at} />,
              ]
            : `${countOf(lines.length, 'balance')} looked at${isRunning ? '…' : '; stopped before the end.'}`}
        </p>
      )}
      <Problem failure={failure} />
      {lines && lines.length > 0 && (
        <Table caption="Customers and keys, as they were looked at" columns={COLUMNS} rows={lines} by="id" />
      )}
    </Page>
  )
}

function audited({ keys, accounts }: Summary): string {
  return countOf(keys, 'key') + (accounts > 0 ? ` and ${countOf(accounts, 'customer')}` : '')
}

function inOrder(lines: readonly Line[]): Line[] {
  return lines.toSorted((a, b) => Number(a.ok) - Number(b.ok))
}

const result = (isOk: boolean) => <Badge of={isOk ? 'balanced' : 'wrong'} />

function lastAudit({ last_audit: last }: Overview) {
  if (!last) {
    return (
      <p>
        It has not run yet. <strong>Run the ledger check</strong> does it, and so does <Command>audit</Command>
      </p>
    )
  }
  return (
    <p>
      {result(last.wrong === 0)} Last proven <Moment at={last.at} />: {countOf(last.keys, 'key')}, {counted(last.wrong)}{' '}
      wrong.
      {last.wrong > 0 && ' Run it again to see which.'}
    </p>
  )
}

const COLUMNS: readonly Column<Line>[] = [
  name('Name', (line) => <NameLink id={line.id} name={line.name} />),
  cell('Result', resultOf, 'wide'),
  credits('Granted', (line) => line.granted),
  credits('Available', (line) => line.available),
  credits('Held', (line) => line.held),
  credits('Spent', (line) => line.spent),
  number(
    'Usage total',
    (line) => line.object === 'audit' && [<Credits of={line.row_costs} />, ` in ${countOf(line.rows, 'row')}`],
  ),
]

function resultOf({ findings, more_findings, ok }: Line) {
  return [
    result(ok),
    findings.length > 0 && (
      <details open={!ok}>
        <summary>{countOf(findings.length + more_findings, 'finding')}</summary>
        <Lines
          of={[
            ...findings.map(({ about, text, note }) => [
              /^req_/.test(about) ? <RequestLink id={about} /> : about,
              `: ${text}`,
              note && <span class="quiet"> (a note)</span>,
            ]),
            more_findings > 0 && `and ${more_findings} more`,
          ]}
        />
      </details>
    ),
  ]
}
