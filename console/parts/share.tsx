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
