import { useNow } from './use-now.ts'

/** The time left until a moment, second by second. Hidden from screen readers, which would read it without end. */
export function Countdown({ to }: { readonly to: string }) {
  const seconds = Math.max(0, Math.ceil((Date.parse(to) - useNow(1000)) / 1000))
  const two = (count: number) => String(count).padStart(2, '0')
  return (
    <span class="number" role="timer" aria-live="off">
      {seconds === 0 ? 'over' : `${two(Math.floor(seconds / 60))}:${two(seconds % 60)}`}
    </span>
  )
}
