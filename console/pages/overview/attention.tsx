import type { Overview } from '../../../layers/admin/api/shapes/usage.ts'
import { counted } from '../../parts/numbers.ts'
import { linkTo } from '../../router.ts'
import { providersOf } from './providers-of.ts'

/** Of twenty attempts one failed: somebody should look. */
const MANY = 0.05

/** The things that need an operator, in a sentence each. */
export function Attention({ of: data }: { readonly of: Overview }) {
  const failing = providersOf(data.routes).filter(({ attempts, failures }) => failures > attempts * MANY)
  const wrong = data.last_audit?.wrong ?? 0
  return (
    <>
      {failing.map(({ provider, attempts, failures }) => (
        <p key={provider} class="notice warn">
          {provider} failed in {counted(failures)} of {counted(attempts)} attempts in 24 hours.{' '}
          {isCovered(data, failures) && 'Other routes answered most of them. '}
          <a href={linkTo(['routes'])}>See the routes</a>
        </p>
      ))}
      {wrong > 0 && (
        <p class="notice bad">
          The last audit found {wrong} {wrong === 1 ? 'key' : 'keys'} wrong.{' '}
          <a href={linkTo(['books'])}>See the books</a>
        </p>
      )}
    </>
  )
}

/** More attempts failed than requests did: fallbacks answered. */
function isCovered({ range }: Overview, failures: number): boolean {
  return range.errors < failures
}
