/** Defined by the build: a package has no npm scripts. */
declare const WAYBILL_PACKAGE: boolean

/** The command that does the same. */
export function Command({ children }: { readonly children: string }) {
  return (
    <code class="raised command">
      {WAYBILL_PACKAGE ? 'npx waybill' : 'npm run -s waybill --'} {children}
    </code>
  )
}
