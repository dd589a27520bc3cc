import type { ComponentChildren } from 'preact'

type Props = {
  readonly name: ComponentChildren
  readonly value: ComponentChildren
  /** The page behind it. */
  readonly href?: string
  readonly class?: string
  /** Its shape over time: the number says how much. */
  readonly shape?: { readonly of: readonly number[]; readonly colour: string }
  readonly children?: ComponentChildren
}

/** A number, and the way to what is behind it. */
export function Metric({ name, value, href, class: kind = '', shape, children }: Props) {
  const content = (
    <>
      <span class="row between small quiet">{name}</span>
      <strong>{value}</strong>
      {shape && <Sparkline {...shape} />}
      {children}
    </>
  )
  return href ? (
    <a class={`metric panel ${kind}`} href={href}>
      {content}
    </a>
  ) : (
    <div class={`metric panel ${kind}`}>{content}</div>
  )
}

const [WIDTH, HEIGHT] = [120, 34]

function Sparkline({ of: values, colour }: NonNullable<Props['shape']>) {
  const most = Math.max(...values, 0)
  if (values.length < 2 || most === 0) return <svg class="spark" aria-hidden="true" />
  const points = values
    .map((value, i) => `${(i * WIDTH) / (values.length - 1)},${HEIGHT - 2 - (HEIGHT - 6) * (value / most)}`)
    .join(' ')
  return (
    <svg class="spark" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      <polygon class={`area ${colour}`} points={`0,${HEIGHT} ${points} ${WIDTH},${HEIGHT}`} />
      <polyline class={`line ${colour}`} points={points} />
    </svg>
  )
}
