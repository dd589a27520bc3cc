/** The command that does the same. */
export function Command({ children }: { readonly children: string }) {
  return <code class="command">npm run -s waybill -- {children}</code>
}
