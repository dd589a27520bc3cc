import type { RequestShape } from '../../../layers/admin/api/shapes/requests.ts'
import { Credits } from '../../parts/credits.tsx'
import { RequestLink } from '../../parts/links.tsx'
import { Moment } from '../../parts/moment.tsx'
import { counted } from '../../parts/numbers.ts'
import { explained, rowFacts } from './row-facts.ts'

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
