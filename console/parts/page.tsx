import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect } from 'preact/hooks'
import type { KeyShape } from '../../layers/admin/api/shapes/keys.ts'
import { type ApiFailure, refusalText } from '../api.ts'
import { linkTo, pageTitle } from '../router.ts'
import { identity } from '../session.ts'
import { colourIn, LINE } from './chart.tsx'
import { Button } from './controls.tsx'
import { SearchBox } from './search-box.tsx'
import type { Loaded } from './use-load.ts'

type PageProps = { readonly title: string; readonly actions?: ComponentChildren; readonly children: ComponentChildren }

let isFirst = true

export const focusHeading = () => document.querySelector<HTMLElement>('h1')?.focus()

/** A page begins at its heading, which is read out and focused after a change of page. */
export function Page({ title, actions, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · Waybill`
  }, [title])
  useLayoutEffect(() => {
    if (!isFirst) focusHeading()
    isFirst = false
  }, [])
  return (
    <main id="main">
      <header class="row wrap title">
        <h1 tabIndex={-1}>{title}</h1>
        {identity.get() && <SearchBox />}
        {actions && <div class="row wrap">{actions}</div>}
      </header>
      {children}
    </main>
  )
}

type BarProps = {
  readonly search?: ComponentChildren
  readonly end?: ComponentChildren
  readonly children: ComponentChildren
}

export function Bar({ search, end, children }: BarProps) {
  return (
    <div class="row wrap bar">
      {search}
      <div class="row chips">{children}</div>
      {end && <div class="row wrap push">{end}</div>}
    </div>
  )
}

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

export function Lines({ of }: { readonly of: readonly ComponentChildren[] }) {
  return <ul class="plain">{of.map((line) => line && <li>{line}</li>)}</ul>
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

type EmptyProps = { readonly command?: string; readonly children: ComponentChildren }

export function Empty({ command, children }: EmptyProps) {
  return (
    <div class="empty">
      <p>{children}</p>
      {command && <Command>{command}</Command>}
    </div>
  )
}

/** In place of a list, if its filters leave nothing. */
export function noneLike(page: string) {
  return (
    <Empty>
      No {pageTitle(page).toLowerCase()} match these filters. <a href={linkTo([page])}>Show all</a>
    </Empty>
  )
}

export function isFound(parts: readonly (string | null)[], text: string): boolean {
  return parts.some((part) => part?.toLowerCase().includes(text.toLowerCase()))
}

type LoadingProps<T> = { readonly of: Omit<Loaded<T>, 'set'>; readonly children: (data: T) => ComponentChildren }

/** The last known data is shown, also when reloading failed. */
export function Loading<T>({ of, children }: LoadingProps<T>) {
  return [
    <Problem failure={of.failure} again={() => void of.reload()} />,
    of.data === undefined ? !of.failure && <p class="quiet">Loading…</p> : children(of.data),
  ]
}

export function Problem({ failure, again }: { readonly failure: ApiFailure | undefined; readonly again?: () => void }) {
  if (!failure) return null
  return (
    <div class="notice bad" role="alert">
      <p>
        {refusalText(failure)}
        {failure.requestId && [' (', <code>{failure.requestId}</code>, ')']}
      </p>
      {again && <Button onClick={again}>Try again</Button>}
    </div>
  )
}

type MetricProps = {
  readonly name: ComponentChildren
  readonly value: ComponentChildren
  readonly href?: string
  readonly class?: string
  readonly shape?: { readonly of: readonly number[]; readonly colour: string }
  readonly children?: ComponentChildren
}

export function Metric({ name, value, href, class: kind = '', shape, children }: MetricProps) {
  const Frame = href ? 'a' : 'div'
  return (
    <Frame class={`metric panel ${kind}`} {...(href && { href })}>
      <span class="row between small quiet">{name}</span>
      <strong>{value}</strong>
      {shape && <Sparkline {...shape} />}
      {children}
    </Frame>
  )
}

const [WIDTH, HEIGHT] = [120, 34]

function Sparkline({ of: values, colour }: NonNullable<MetricProps['shape']>) {
  const most = Math.max(...values, 0)
  const points = values
    .map((value, i) => `${(i * WIDTH) / (values.length - 1)},${HEIGHT - 2 - (HEIGHT - 6) * (value / most)}`)
    .join(' ')
  return (
    <svg
      class="spark"
      height="2.125rem"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      {values.length > 1 &&
        most > 0 && [
          <polygon fill={colourIn(colour)} opacity="0.1" points={`0,${HEIGHT} ${points} ${WIDTH},${HEIGHT}`} />,
          <polyline {...LINE} stroke={colourIn(colour)} vector-effect="non-scaling-stroke" points={points} />,
        ]}
    </svg>
  )
}

type ShareProps = {
  readonly of: number
  readonly colour?: string
  /** Its name, if the number beside it does not say the same. */
  readonly label?: string
  readonly title?: string
}

export function Share({ of, colour = 'c0', label, title }: ShareProps) {
  const percent = Math.round(100 * Math.min(1, Math.max(0, of)))
  const meter = label ? { role: 'meter', 'aria-label': label, 'aria-valuenow': percent } : {}
  return (
    <span class="share" title={title} {...(meter as object)}>
      <svg height="6" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
        <rect fill="var(--line)" width="100" height="6" rx="3" />
        <rect fill={colourIn(colour)} width={percent} height="6" rx="3" />
      </svg>
    </span>
  )
}

/** The share of what was granted that is left; the numbers beside it are the exact ones. */
export function LeftBar({ of: { available, granted } }: { readonly of: Pick<KeyShape, 'available' | 'granted'> }) {
  const share = Number(granted) > 0 ? Number(available) / Number(granted) : 0
  const colour = share < 0.1 ? 'c4' : share < 0.25 ? 'c2' : 'c0'
  return <Share of={share} colour={colour} label="Left of what was granted" title={`Of ${granted} granted`} />
}
