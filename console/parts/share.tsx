type Props = {
  /** From 0 to 1. */
  readonly of: number
  readonly colour?: string
  /** Its name, if the number beside it does not say the same. */
  readonly label?: string
  readonly title?: string
}

/** A part of a whole, as a bar. */
export function Share({ of, colour = 'c0', label, title }: Props) {
  const percent = Math.round(100 * Math.min(1, Math.max(0, of)))
  const meter = label ? { role: 'meter', 'aria-label': label, 'aria-valuenow': percent } : {}
  return (
    <span class="share" title={title} {...(meter as object)}>
      <svg viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
        <rect class="back" width="100" height="6" rx="3" />
        <rect class={colour} width={percent} height="6" rx="3" />
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
