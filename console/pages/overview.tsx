import type { Overview as OverviewShape } from '../../layers/admin/api/shapes/usage.ts'
import { Badge } from '../parts/badge.tsx'
import { Button } from '../parts/button.tsx'
import { Command } from '../parts/command.tsx'
import { Credits } from '../parts/credits.tsx'
import { KeyLink } from '../parts/links.tsx'
import { Loading } from '../parts/loading.tsx'
import { Moment } from '../parts/moment.tsx'
import { Page } from '../parts/page.tsx'
import { type Column, cell, count, credits, name, Table } from '../parts/table.tsx'
import { useLoad } from '../parts/use-load.ts'
import { linkTo } from '../router.ts'

/** Not live: the server reads a day of every key for it. */
export function Overview() {
  const overview = useLoad<OverviewShape>('/overview')
  return (
    <Page title="Overview" actions={<Button onClick={() => void overview.reload()}>Refresh</Button>}>
      <Loading of={overview}>
        {(data) => (
          <>
            <Figures of={data} />
            <Low of={data} />
            <Errors of={data} />
            <Failing of={data} />
          </>
        )}
      </Loading>
    </Page>
  )
}

function Figures({ of }: { readonly of: OverviewShape }) {
  const { active, suspended, expired, revoked } = of.keys
  return (
    <dl class="figures">
      <div>
        <dt>Spent today (UTC)</dt>
        <dd>
          <Credits of={of.spent_today} />
        </dd>
      </div>
      <div>
        <dt>Spent in 7 days</dt>
        <dd>
          <a href={linkTo(['usage'])}>
            <Credits of={of.spent_7_days} />
          </a>
        </dd>
      </div>
      <div>
        <dt>Requests today</dt>
        <dd class="number">{of.requests_today.toLocaleString('en-US')}</dd>
      </div>
      <div>
        <dt>Keys</dt>
        <dd>
          <a href={linkTo(['keys'], { status: 'active' })}>{active.toLocaleString('en-US')} active</a>
          <span class="quiet">
            {' '}
            {suspended} suspended, {expired} expired, {revoked} revoked
          </span>
        </dd>
      </div>
      <div>
        <dt>Books</dt>
        <dd>
          <Books of={of.last_audit} />
        </dd>
      </div>
    </dl>
  )
}

function Books({ of: audit }: { readonly of: OverviewShape['last_audit'] }) {
  if (!audit) return <a href={linkTo(['books'])}>not proven yet</a>
  return (
    <>
      <a href={linkTo(['books'])}>{audit.wrong === 0 ? 'balanced' : `${audit.wrong} of ${audit.keys} wrong`}</a>{' '}
      <span class="quiet">
        <Moment at={audit.at} />
      </span>
    </>
  )
}

const LOW_COLUMNS: readonly Column<OverviewShape['low'][number]>[] = [
  name('Key', (key) => <KeyLink id={key.id} name={key.name} />),
  credits('Available', (key) => key.available),
  cell('Why', (key) => key.badges.filter(isOfCredits).map((badge) => <Badge key={badge} of={badge} />)),
]

function Low({ of: { low, keys } }: { readonly of: OverviewShape }) {
  return (
    <>
      <h2>Keys about to run dry</h2>
      {low.length === 0 ? (
        <div class="empty">
          {keys.active === 0 ? (
            <>
              <p>
                There is no active key. <strong>Create key</strong> on the page <a href={linkTo(['keys'])}>Keys</a>{' '}
                makes one, and so does
              </p>
              <Command>keys create --name acme --credits 25</Command>
            </>
          ) : (
            <p>None, at the last week’s rate.</p>
          )}
        </div>
      ) : (
        <Table caption="Keys about to run dry" columns={LOW_COLUMNS} rows={low} keyOf={(key) => key.id} />
      )}
    </>
  )
}

function isOfCredits(badge: string): boolean {
  return badge === 'empty' || badge === 'low'
}

const ERROR_COLUMNS: readonly Column<OverviewShape['errors'][number]>[] = [
  name('Code', ({ code }) => <code>{code}</code>),
  count('Requests', ({ requests }) => requests),
]

function Errors({ of: { errors } }: { readonly of: OverviewShape }) {
  return (
    <>
      <h2>Errors of today and yesterday</h2>
      {errors.length === 0 ? (
        <p class="empty">None.</p>
      ) : (
        <Table caption="Errors by code" columns={ERROR_COLUMNS} rows={errors} keyOf={({ code }) => code} />
      )}
    </>
  )
}

const ROUTE_COLUMNS: readonly Column<OverviewShape['routes'][number]>[] = [
  name('Model', (route) => route.model),
  cell('Provider', (route) => route.provider),
  cell('Its model', (route) => <code>{route.upstream_model}</code>),
  count('Failures', (route) => route.failures_24h),
  count('Requests', (route) => route.requests_24h),
]

function Failing({ of: { routes } }: { readonly of: OverviewShape }) {
  const failing = routes.filter(({ failures_24h }) => failures_24h > 0)
  return (
    <>
      <h2>Routes that failed in 24 hours</h2>
      {failing.length === 0 ? (
        <p class="empty">
          None of <a href={linkTo(['routes'])}>{routes.length}</a>.
        </p>
      ) : (
        <Table
          caption="Routes that failed"
          columns={ROUTE_COLUMNS}
          rows={failing}
          keyOf={(route) => `${route.model} ${route.provider} ${route.order}`}
        />
      )}
    </>
  )
}
