import { useNow } from './use-now.ts'

type Props = { readonly at: string | null; readonly never?: string; readonly isBrief?: boolean }

export function Moment({ at, never = 'never', isBrief }: Props) {
  const now = useNow(60_000)
  if (at === null) return <span class="quiet">{never}</span>
  return (
    <time dateTime={at} title={utcText(at)}>
      {isBrief ? (
        distance(Date.parse(at) - now)
      ) : (
        <>
          {utcText(at)} <span class="quiet">({distance(Date.parse(at) - now)})</span>
        </>
      )}
    </time>
  )
}

function utcText(at: string): string {
  return `${at.slice(0, 10)} ${at.slice(11, 19)} UTC`
}

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const

function distance(ms: number): string {
  for (const [unit, size] of UNITS) {
    const count = Math.floor(Math.abs(ms) / size)
    if (count > 0) return inWords(`${count} ${unit}${count === 1 ? '' : 's'}`, ms)
  }
  return ms > 0 ? 'in a moment' : 'just now'
}

function inWords(text: string, ms: number): string {
  return ms < 0 ? `${text} ago` : `in ${text}`
}
