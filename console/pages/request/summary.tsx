import type { ComponentChildren } from 'preact'
import type { RequestShape } from '../../../layers/admin/api/shapes/requests.ts'
import { Badge } from '../../parts/badge.tsx'
import { Credits } from '../../parts/credits.tsx'
import { KeyLink } from '../../parts/links.tsx'
import { Moment } from '../../parts/moment.tsx'
import { Status } from '../../parts/status.tsx'
import { Took } from '../../parts/took.tsx'
import { type RowFacts, rowFacts, tokensPerSecond } from './row-facts.ts'

/** The first things that somebody who opens a request looks for. */
export function Summary({ of: request }: { readonly of: RequestShape }) {
  const facts = rowFacts(request)
  return (
    <>
      <section class="panel headline" aria-label="Summary">
        <div>{request.row ? <Status of={endOf(facts)} /> : <Badge of="open" />}</div>
        <div>
          <strong>{facts.model ?? facts.endpoint ?? 'Still running, or dead'}</strong>
          <Served of={facts} />
        </div>
        <div>
          <KeyLink id={request.key_id} name={request.key_name} />
          <span class="unit below-line">{facts.started_at && <Moment at={facts.started_at} />}</span>
        </div>
      </section>
      {request.row && <Figures of={request} />}
    </>
  )
}

function Figures({ of: request }: { readonly of: RequestShape }) {
  const facts = rowFacts(request)
  return (
    <dl class="figures">
      <Figure name="Duration">
        <Took ms={facts.duration_ms} />
      </Figure>
      <Figure name="First token">
        <Took ms={facts.ttft_ms} />
      </Figure>
      <Figure name="Tokens a second">{tokensPerSecond(facts)?.toFixed(1) ?? <span class="quiet">–</span>}</Figure>
      <Figure name="Charged">
        {facts.cost === undefined ? <span class="quiet">–</span> : <Credits of={facts.cost} withUnit />}
      </Figure>
      <Figure name="Margin">
        {request.margin === null ? (
          <span class="quiet" title="The cost to us is not known">
            –
          </span>
        ) : (
          <>
            <Credits of={request.margin} /> <Percent of={request.margin} in={facts.cost} />
          </>
        )}
      </Figure>
    </dl>
  )
}

function endOf({ http_status = 0, outcome = '', error_code = null }: RowFacts) {
  return { http_status, outcome, error_code }
}

function Figure({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

function Served({ of: facts }: { readonly of: RowFacts }) {
  const { model, fallback_model: fallback, provider, upstream_model: upstream } = facts
  if (!provider) return null
  return (
    <span class="unit below-line">
      {fallback && `${fallback} `}by {provider}
      {upstream && upstream !== (fallback ?? model) && ` as ${upstream}`}
    </span>
  )
}

function Percent({ of, in: whole }: { readonly of: string; readonly in: string | undefined }) {
  if (!(Number(whole) > 0)) return null
  return <span class="unit number">{((100 * Number(of)) / Number(whole)).toFixed(1)} %</span>
}
