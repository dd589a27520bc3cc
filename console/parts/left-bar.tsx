type Props = { readonly available: string; readonly granted: string }

/** The share of what was granted that is left; the numbers beside it are the exact ones. */
export function LeftBar({ available, granted }: Props) {
  const share = Number(granted) > 0 ? Math.max(0, Number(available)) / Number(granted) : 0
  return (
    <meter
      class="left"
      aria-label="Left of what was granted"
      title={`${Math.round(share * 100)} % of ${granted} granted`}
      low={0.1}
      high={0.25}
      optimum={1}
      value={share}
    />
  )
}
