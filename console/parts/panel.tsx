import type { ComponentChildren } from 'preact'

type Props = {
  readonly title: string
  readonly beside?: ComponentChildren
  readonly class?: string
  /** People who cannot see it may jump to it. */
  readonly isRegion?: boolean
  readonly isBusy?: boolean
  readonly children: ComponentChildren
}

export function Panel({ title, beside, class: kind = '', isRegion, isBusy, children }: Props) {
  return (
    <section class={`panel ${kind}`} aria-label={isRegion ? title : undefined} aria-busy={isBusy}>
      <header class="row wrap between">
        <h2>{title}</h2>
        {beside}
      </header>
      {children}
    </section>
  )
}

type FactsProps = {
  readonly of: readonly (readonly [name: string, value: ComponentChildren])[]
  readonly class?: 'facts' | 'figures'
}

/** Nothing is said of a value that is not known. */
export function Facts({ of, class: kind = 'facts' }: FactsProps) {
  const known = of.filter(([, value]) => value !== undefined && value !== null && value !== false)
  return (
    <dl class={kind}>
      {known.map(([name, value]) => (
        <div key={name} class={kind === 'figures' ? 'panel' : undefined}>
          <dt class="quiet">{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}

/** Defined by the build: a package has no npm scripts. */
declare const WAYBILL_PACKAGE: boolean

export function Command({ children }: { readonly children: string }) {
  return (
    <code class="raised command">
      {WAYBILL_PACKAGE ? 'npx waybill' : 'npm run -s waybill --'} {children}
    </code>
  )
}

type EmptyProps = { readonly title?: string; readonly command?: string; readonly children: ComponentChildren }

export function Empty({ title, command, children }: EmptyProps) {
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
