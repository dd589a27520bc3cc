import type { ComponentChildren, RefObject } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { ticksTo, tickText } from './numbers.ts'

export type Series<Point> = {
  readonly label: string
  /** Its colour, by a class of the style sheet. */
  readonly colour: string
  /** Only drawn, never told. */
  readonly of: (point: Point) => number
  readonly told: (point: Point) => ComponentChildren
}

type Drawn = {
  readonly series: readonly { readonly label: string; readonly colour: string; readonly values: readonly number[] }[]
  readonly count: number
  /** The left end of the first, and the width of each. */
  readonly axis: number
  readonly step: number
  readonly y: (value: number) => number
  readonly isCounting: boolean
}

/** The height of the values of a moment together, and how they are drawn. */
type Kind = {
  readonly heightOf: (values: readonly number[]) => number
  readonly draw: (drawn: Drawn) => ComponentChildren
}

export type ChartProps<Point> = {
  readonly caption: string
  readonly unit: string
  readonly points: readonly Point[]
  readonly series: readonly Series<Point>[]
  readonly kind?: Kind
  /** The last moment is not over. */
  readonly isCounting?: boolean
  readonly height?: number
}

type Props<Point> = ChartProps<Point> & {
  /** The name of its moment. */
  readonly nameOf: (point: Point) => string
  /** The first and the last of the points that were clicked, dragged over or chosen by keyboard. */
  readonly onPick?: ((first: number, last: number) => void) | undefined
}

const BOTTOM = 24
/** The room for the longest name of a tick. */
const leftOf = (ticks: readonly number[]) => Math.max(44, ...ticks.map((tick) => 16 + 7 * tickText(tick).length))

/** A chart with its axis, and with all series at the moment that is pointed at or reached by the arrow keys. */
export function Chart<Point>(props: Props<Point>) {
  const { caption, unit, points, nameOf, kind = BARS, isCounting = false, height = 240, onPick } = props
  const moments = points.map(nameOf)
  const series = props.series.map((one) => ({ ...one, values: points.map(one.of) }))
  const here = (at: number) => points[at] as Point
  const [frame, width] = useWidth<HTMLDivElement>()
  const [at, setAt] = useState<number | undefined>(undefined)
  const [since, setSince] = useState<number | undefined>(undefined)
  const heights = points.map((_, i) => kind.heightOf(series.map(({ values }) => Math.max(0, values[i] ?? 0))))
  const isWhole = series.every(({ values }) => values.every(Number.isInteger))
  const ticks = ticksTo(Math.max(0, ...heights), isWhole)
  const top = ticks.at(-1) ?? 1
  const axis = leftOf(ticks)
  const step = Math.max(1, width - axis) / Math.max(1, moments.length)
  const y = (value: number) => 8 + (height - BOTTOM - 8) * (1 - value / top)
  const moved = (event: KeyboardEvent) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key]
    if (by !== undefined) {
      event.preventDefault()
      setSince(event.shiftKey ? (since ?? at) : undefined)
      setAt((now) => Math.min(moments.length - 1, Math.max(0, (now ?? (by > 0 ? -1 : moments.length)) + by)))
    }
    if (event.key === 'Escape') left()
    if (event.key === 'Enter') picked()
  }
  const left = () => {
    setAt(undefined)
    setSince(undefined)
  }
  const picked = () => {
    if (at === undefined) return
    onPick?.(Math.min(at, since ?? at), Math.max(at, since ?? at))
    left()
  }
  const pointed = (event: MouseEvent & { readonly currentTarget: HTMLElement }) => {
    const x = event.clientX - event.currentTarget.getBoundingClientRect().left - axis
    setAt(x < 0 ? undefined : Math.min(moments.length - 1, Math.floor(x / step)))
  }
  return (
    <div
      class={onPick ? 'chart picked' : 'chart'}
      ref={frame}
      role="application"
      aria-label={`${caption}. Left and right arrows go through the times${onPick ? ', with Shift they choose several, Enter filters by them' : ''}.`}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it is walked through with the arrow keys.
      tabIndex={0}
      onKeyDown={moved}
      onMouseMove={pointed}
      onMouseLeave={left}
      onBlur={left}
      onMouseDown={() => onPick && setSince(at)}
      onMouseUp={picked}
    >
      <svg height={height} aria-hidden="true">
        {ticks.map((tick) => (
          <g key={tick}>
            <line class="grid" x1={axis} x2={width} y1={y(tick)} y2={y(tick)} />
            <text class="tick" x={axis - 8} y={y(tick) + 4} text-anchor="end">
              {tickText(tick)}
            </text>
          </g>
        ))}
        <text class="tick" x={0} y={height - 6}>
          {unit}
        </text>
        {at !== undefined && (
          <rect
            class="pointed"
            x={axis + Math.min(at, since ?? at) * step}
            y={0}
            width={step * (1 + Math.abs(at - (since ?? at)))}
            height={height - BOTTOM}
          />
        )}
        {kind.draw({ series, count: moments.length, axis, step, y, isCounting })}
        {moments.map((moment, i) =>
          i % everyNth(moments.length, width - axis) === 0 ? (
            <text key={moment} class="tick" x={axis + (i + 0.5) * step} y={height - 6} text-anchor="middle">
              {moment}
            </text>
          ) : null,
        )}
      </svg>
      {at !== undefined && (
        <div
          class="tip floating panel small"
          aria-live="polite"
          style={{ left: `${Math.min(axis + (at + 1) * step, Math.max(axis, width - 220))}px` }}
        >
          <strong>{moments[at]}</strong>
          <dl class="plain">
            {series
              .filter(({ values }) => values[at])
              .map(({ label, colour, told }) => (
                <div key={label} class="row between">
                  <dt>
                    <Swatch of={colour} /> {label}
                  </dt>
                  <dd>{told(here(at))}</dd>
                </div>
              ))}
          </dl>
        </div>
      )}
      <ul class="row wrap plain small quiet legend">
        {series.map(({ label, colour }) => (
          <li key={label}>
            <Swatch of={colour} /> {label}
          </li>
        ))}
      </ul>
    </div>
  )
}

const BARS: Kind = {
  heightOf: (values) => values.reduce((sum, value) => sum + value, 0),
  draw: ({ series, count, axis, step, y, isCounting }) => {
    const gap = step > 6 ? Math.min(8, step / 5) : 0
    const shape = { rx: 2, width: step - gap }
    return Array.from({ length: count }, (_, i) => {
      let sum = 0
      return (
        <g key={i} class={isCounting && i === count - 1 ? 'counting' : undefined}>
          {series.map(({ colour, values }) => {
            const bottom = y(sum)
            sum += Math.max(0, values[i] ?? 0)
            const height = Math.max(1, bottom - y(sum) - 1)
            return (
              y(sum) < bottom && (
                <rect key={colour} class={colour} {...shape} x={axis + i * step + gap / 2} y={y(sum)} height={height} />
              )
            )
          })}
        </g>
      )
    })
  },
}

/** They are not added up. */
export const LINES: Kind = {
  heightOf: (values) => Math.max(...values),
  draw: ({ series, axis, step, y }) =>
    series.map(({ label, colour, values }) => (
      <polyline
        key={label}
        class={`line ${colour}`}
        points={values.map((value, i) => `${axis + (i + 0.5) * step},${y(value)}`).join(' ')}
      />
    )),
}

export function Swatch({ of }: { readonly of: string }) {
  return (
    <svg class="swatch" viewBox="0 0 10 10" aria-hidden="true">
      <rect class={of} width="10" height="10" rx="3" />
    </svg>
  )
}

/** So that the names of moments do not touch. */
function everyNth(count: number, width: number): number {
  return Math.max(1, Math.ceil((count * 64) / Math.max(1, width)))
}

/** The width of an element in pixels, also after the window has changed. */
function useWidth<E extends Element>(): [RefObject<E>, number] {
  const element = useRef<E>(null)
  const [width, setWidth] = useState(900)
  // Not useEffect, which comes after a first picture in the wrong width.
  useLayoutEffect(() => {
    if (!element.current) return
    const observer = new ResizeObserver(([entry]) => entry && setWidth(Math.round(entry.contentRect.width)))
    observer.observe(element.current)
    return () => observer.disconnect()
  }, [])
  return [element, width]
}
