import type { RequestShape } from '../../../layers/admin/api/shapes/requests.ts'
import { counted } from '../../parts/numbers.ts'
import { Facts } from '../../parts/panel.tsx'
import { Badge, Credits, KeyLink, Moment, RequestLink, Status, Took } from '../../parts/values.tsx'
import { explained, type RowFacts, rowFacts, tokensPerSecond } from './row-facts.ts'

/** The first things that somebody who opens a request looks for. */
export function Summary({ of: request }: { readonly of: RequestShape }) {
  const facts = rowFacts(request)
  return (
    <>
      <section class="panel row wrap headline" aria-label="Summary">
        <div>{request.row ? <Status of={endOf(facts)} /> : <Badge of="open" />}</div>
        <div>
          <strong>{facts.model ?? facts.endpoint ?? 'Still running, or dead'}</strong>
          <Served of={facts} />
        </div>
        <div class="push">
          <KeyLink id={request.key_id} name={request.key_name} />
          <span class="note">{facts.started_at && <Moment at={facts.started_at} />}</span>
        </div>
      </section>
      {request.row && <Figures of={request} />}
    </>
  )
}

function Figures({ of: request }: { readonly of: RequestShape }) {
  const facts = rowFacts(request)
  return (
    <Facts
      class="figures"
      of={[
        ['Duration', <Took ms={facts.duration_ms} />],
        ['First token', <Took ms={facts.ttft_ms} />],
        ['Tokens a second', tokensPerSecond(facts)?.toFixed(1) ?? NOT_KNOWN],
        ['Charged', facts.cost === undefined ? NOT_KNOWN : <Credits of={facts.cost} withUnit />],
        ['Margin', request.margin === null ? NO_MARGIN : <Margin of={request.margin} in={facts.cost} />],
      ]}
    />
  )
}

const NOT_KNOWN = <span class="quiet">–</span>
const NO_MARGIN = (
  <span class="quiet" title="The cost to us is not known">
    –
  </span>
)

function endOf({ http_status = 0, outcome = '', error_code = null }: RowFacts) {
  return { http_status, outcome, error_code }
}

function Served({ of: facts }: { readonly of: RowFacts }) {
  const { model, fallback_model: fallback, provider, upstream_model: upstream } = facts
  if (!provider) return null
  return (
    <span class="note">
      {fallback && `${fallback} `}by {provider}
      {upstream && upstream !== (fallback ?? model) && ` as ${upstream}`}
    </span>
  )
}

function Margin({ of, in: whole }: { readonly of: string; readonly in: string | undefined }) {
  return (
    <>
      <Credits of={of} />{' '}
      {Number(whole) > 0 && <span class="unit number">{((100 * Number(of)) / Number(whole)).toFixed(1)} %</span>}
    </>
  )
}

/** Things that are not as the caller may have expected them. */
export function Notices({ of: request }: { readonly of: RequestShape }) {
  const { hold, bill } = request
  const facts = rowFacts(request)
  const isFailed = facts.outcome !== undefined && facts.outcome !== 'completed'
  const why = bill.length === 0 ? explained(request, 'charged') : undefined
  const whyCharged = isFailed && explained(request, '')
  return (
    <>
      {hold && (
        <p class="notice warn">
          <Credits of={hold.amount} withUnit /> held until <Moment at={hold.until} />.{' '}
          {hold.expired && 'Its request is dead, and the sweep will give the credits back.'}
        </p>
      )}
      {facts.fallback_model && (
        <p class="notice warn">
          <strong>Answered by a fallback:</strong> {facts.fallback_model} answered in place of {facts.model}, at the
          price of {facts.model}.
        </p>
      )}
      {facts.lowered_max_tokens && (
        <p class="notice warn">
          <strong>Output cap lowered:</strong> to {counted(facts.lowered_max_tokens)} tokens,{' '}
          {facts.asked_max_tokens
            ? `the most that ${facts.model} generates; ${counted(facts.asked_max_tokens)} were asked for.`
            : 'the most that the balance covered. A longer answer was cut there.'}
        </p>
      )}
      {facts.dropped_fields && (
        <p class="notice warn">
          <strong>Fields left out:</strong> {facts.dropped_fields}, as the catalog tells for {facts.provider}.
        </p>
      )}
      {facts.replay_of && (
        <p class="notice">
          The stored answer of <RequestLink id={facts.replay_of} /> once more, for the same Idempotency-Key.
        </p>
      )}
      {why && <p class={isFailed ? 'notice bad' : 'notice'}>Charged {why}.</p>}
      {whyCharged && (
        <p class="notice bad">
          <strong>Charged although it failed:</strong> {whyCharged}.
        </p>
      )}
    </>
  )
}
