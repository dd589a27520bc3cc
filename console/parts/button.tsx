import type { ComponentChildren } from 'preact'

type Props = {
  readonly onClick: () => void
  readonly class?: string
  readonly disabled?: boolean
  readonly 'aria-label'?: string
  readonly children: ComponentChildren
}

/** One that sends no form. */
export function Button(props: Props) {
  return <button type="button" {...props} />
}
