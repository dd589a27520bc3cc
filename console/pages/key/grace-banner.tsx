import type { KeyDetail } from '../../../layers/admin/api/shapes/keys.ts'
import { Button } from '../../parts/button.tsx'
import { Moment, useNow } from '../../parts/moment.tsx'

type Props = { readonly of: KeyDetail; readonly onEnd: () => void }

/** The old secret of a rotated key: the time for which it still works, and its last use. */
export function GraceBanner({ of: key, onEnd }: Props) {
  if (!key.previous) return null
  const { last_four, expires_at } = key.previous
  return (
    <section class="notice warn" aria-label="The old secret">
      <p>
        The old secret <code>…{last_four}</code> works for another <Countdown to={expires_at} />. <OldUse of={key} />
      </p>
      <Button onClick={onEnd}>End now</Button>
    </section>
  )
}

export function OldUse({ of: { previous } }: Pick<Props, 'of'>) {
  if (!previous?.last_used_at) return <strong>Nobody has used it since the rotation.</strong>
  return (
    <>
      <strong>It is still in use:</strong> last <Moment at={previous.last_used_at} />.
    </>
  )
}

/** The time left until a moment, second by second. Hidden from screen readers, which would read it without end. */
function Countdown({ to }: { readonly to: string }) {
  const seconds = Math.max(0, Math.ceil((Date.parse(to) - useNow(1000)) / 1000))
  const two = (count: number) => String(count).padStart(2, '0')
  return (
    <span class="number" role="timer" aria-live="off">
      {seconds === 0 ? 'over' : `${two(Math.floor(seconds / 60))}:${two(seconds % 60)}`}
    </span>
  )
}
