type Props = {
  readonly isOn: boolean
  /** The list is pointed at, or has the focus. */
  readonly isHeld: boolean
  /** The range has not ended. */
  readonly canBe: boolean
  readonly onChange: (isOn: boolean) => void
}

export function Live({ isOn, isHeld, canBe, onChange }: Props) {
  const isPaused = isOn && isHeld
  return (
    <span class="row push">
      <span class="quiet" role="status">
        {!canBe && 'This range has ended'}
        {isPaused && 'Paused while you read the list'}
      </span>
      <button
        type="button"
        class={isOn ? 'chip chosen' : 'chip'}
        aria-pressed={isOn}
        disabled={!canBe}
        onClick={() => onChange(!isOn)}
      >
        <span class={isOn && !isPaused ? 'dot on' : 'dot'} /> Live
      </button>
    </span>
  )
}
