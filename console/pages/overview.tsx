import type { Overview as OverviewShape } from '../../layers/admin/api/shapes/usage.ts'
import { Badge } from '../parts/badge.tsx'
import { Command } from '../parts/command.tsx'
import { Credits } from '../parts/credits.tsx'
import { KeyLink } from '../parts/links.tsx'
import { Loading } from '../parts/loading.tsx'
import { Moment } from '../parts/moment.tsx'
import { Page } from '../parts/page.tsx'
import { Table } from '../parts/table.tsx'
import { useLoad } from '../parts/use-load.ts'
import { linkTo } from '../router.ts'

/** Not live: the server reads a day of every key for it. */
export function Overview() {
  const overview = useLoad<OverviewShape>('/overview')
  return (
    <Page
      title="Overview"
      actions={
        <button type="button" onClick={() => void overview.reload()}>
          Refresh
        </button>
      }
    >
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
  const { active, expired, revoked } = of.keys
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
            {expired} expired, {revoked} revoked
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
        <Table
          caption="Keys about to run dry"
          head={
            <>
              <th scope="col">Key</th>
              <th scope="col" class="number">
                Available
              </th>
              <th scope="col">Why</th>
            </>
          }
        >
          {low.map((key) => (
            <tr key={key.id}>
              <th scope="row">
                <KeyLink id={key.id} name={key.name} />
              </th>
              <td class="number">
                <Credits of={key.available} />
              </td>
              <td>
                {key.badges.filter(isOfCredits).map((badge) => (
                  <Badge key={badge} of={badge} />
                ))}
              </td>
            </tr>
          ))}
        </Table>
      )}
    </>
  )
}

function isOfCredits(badge: string): boolean {
  return badge === 'empty' || badge === 'low'
}

function Errors({ of: { errors } }: { readonly of: OverviewShape }) {
  return (
    <>
      <h2>Errors of today and yesterday</h2>
      {errors.length === 0 ? (
        <p class="empty">None.</p>
      ) : (
        <Table
          caption="Errors by code"
          head={
            <>
              <th scope="col">Code</th>
              <th scope="col" class="number">
                Requests
              </th>
            </>
          }
        >
          {errors.map(({ code, requests }) => (
            <tr key={code}>
              <th scope="row">
                <code>{code}</code>
              </th>
              <td class="number">{requests.toLocaleString('en-US')}</td>
            </tr>
          ))}
        </Table>
      )}
    </>
  )
}

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
          head={
            <>
              <th scope="col">Model</th>
              <th scope="col">Provider</th>
              <th scope="col">Its model</th>
              <th scope="col" class="number">
                Failures
              </th>
              <th scope="col" class="number">
                Requests
              </th>
            </>
          }
        >
          {failing.map((route) => (
            <tr key={`${route.model} ${route.provider} ${route.order}`}>
              <th scope="row">{route.model}</th>
              <td>{route.provider}</td>
              <td>
                <code>{route.upstream_model}</code>
              </td>
              <td class="number">{route.failures_24h.toLocaleString('en-US')}</td>
              <td class="number">{route.requests_24h.toLocaleString('en-US')}</td>
            </tr>
          ))}
        </Table>
      )}
    </>
  )
}
