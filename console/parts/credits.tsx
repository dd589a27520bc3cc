/** An amount as the server wrote it. Nothing here computes with one. */
export function Credits({ of }: { readonly of: string }) {
  return <span class={of.startsWith('-') ? 'number below' : 'number'}>{of}</span>
}
