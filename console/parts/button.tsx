import type { ComponentChildren } from 'preact'
import { announce } from './announce.tsx'

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

type CopyProps = { readonly text: () => string; readonly what: string; readonly label?: string }

export function CopyButton({ text, what, label = 'Copy' }: CopyProps) {
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text())
      announce(`Copied ${what}.`)
    } catch {
      announce(`The browser did not let the page copy ${what}: select it by hand.`)
    }
  }
  return <Button onClick={() => void copy()}>{label}</Button>
}
