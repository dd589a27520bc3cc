import { shortAmount } from './numbers.ts'

type Props = { readonly of: string; readonly withUnit?: boolean }

/** An amount, short; exact when it is pointed at and when it is copied. Nothing here computes with one. */
export function Credits({ of, withUnit = false }: Props) {
  const copied = (event: ClipboardEvent) => {
    event.clipboardData?.setData('text/plain', of)
    event.preventDefault()
  }
  return (
    <data class={of.startsWith('-') ? 'number below' : 'number'} value={of} title={`${of} credits`} onCopy={copied}>
      {shortAmount(of)}
      {withUnit && <span class="unit"> credits</span>}
    </data>
  )
}
