const [WIDTH, HEIGHT] = [120, 34]

/** The shape of a number over time, without an axis: the number beside it says how much. */
export function Sparkline({ of: values, colour }: { readonly of: readonly number[]; readonly colour: string }) {
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
