import { announce } from './announce.tsx'
import { Button } from './button.tsx'

type Props = { readonly text: () => string; readonly what: string; readonly label?: string }

export function CopyButton({ text, what, label = 'Copy' }: Props) {
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
