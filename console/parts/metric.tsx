import type { ComponentChildren } from 'preact'
import { colourIn, LINE } from './chart.tsx'

type Props = {
  readonly name: ComponentChildren
  readonly value: ComponentChildren
  readonly href?: string
  readonly class?: string
  readonly shape?: { readonly of: readonly number[]; readonly colour: string }
  readonly children?: ComponentChildren
}

export function Metric({ name, value, href, class: kind = '', shape, children }: Props) {
  const Frame = href ? 'a' : 'div'
  return (
    <Frame class={`metric panel ${kind}`} {...(href && { href })}>
      <span class="row between small quiet">{name}</span>
      <strong>{value}</strong>
      {shape && <Sparkline {...shape} />}
      {children}
    </Frame>
  )
}

const [WIDTH, HEIGHT] = [120, 34]

function Sparkline({ of: values, colour }: NonNullable<Props['shape']>) {
  const most = Math.max(...values, 0)
  const points = values
    .map((value, i) => `${(i * WIDTH) / (values.length - 1)},${HEIGHT - 2 - (HEIGHT - 6) * (value / most)}`)
    .join(' ')
  return (
    <svg
      class="spark"
      height="2.125rem"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      {values.length > 1 && most > 0 && (
        <>
          <polygon fill={colourIn(colour)} opacity="0.1" points={`0,${HEIGHT} ${points} ${WIDTH},${HEIGHT}`} />
          <polyline {...LINE} stroke={colourIn(colour)} vector-effect="non-scaling-stroke" points={points} />
        </>
      )}
    </svg>
  )
}

type ShareProps = {
  readonly of: number
  readonly colour?: string
  /** Its name, if the number beside it does not say the same. */
  readonly label?: string
  readonly title?: string
}

export function Share({ of, colour = 'c0', label, title }: ShareProps) {
  const percent = Math.round(100 * Math.min(1, Math.max(0, of)))
  const meter = label ? { role: 'meter', 'aria-label': label, 'aria-valuenow': percent } : {}
  return (
    <span class="share" title={title} {...(meter as object)}>
      <svg height="6" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
        <rect fill="var(--line)" width="100" height="6" rx="3" />
        <rect fill={colourIn(colour)} width={percent} height="6" rx="3" />
      </svg>
    </span>
  )
}

/** The share of what was granted that is left; the numbers beside it are the exact ones. */
export function LeftBar({ available, granted }: { readonly available: string; readonly granted: string }) {
  const share = Number(granted) > 0 ? Number(available) / Number(granted) : 0
  const colour = share < 0.1 ? 'c4' : share < 0.25 ? 'c2' : 'c0'
  return <Share of={share} colour={colour} label="Left of what was granted" title={`Of ${granted} granted`} />
}
