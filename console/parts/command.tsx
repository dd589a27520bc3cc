import type { ComponentChildren } from 'preact'

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

type Props = { readonly title?: string; readonly command?: string; readonly children: ComponentChildren }

/** Shown in place of something that is not there yet: the next step, and the command that does the same. */
export function Empty({ title, command, children }: Props) {
  return (
    <div class="empty">
      {title && (
        <p>
          <strong>{title}</strong>
        </p>
      )}
      <p>{children}</p>
      {command && <Command>{command}</Command>}
    </div>
  )
}
