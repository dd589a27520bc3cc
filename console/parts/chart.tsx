import type { ComponentChildren } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { sumOf, ticksTo, tickText } from './numbers.ts'
import { isKey, leave, span, stepOf, take, times } from './shortcuts.ts'
import { useSize } from './use-load.ts'

export type Series<Point> = {
  readonly label: string
  readonly colour: string
  readonly of: (point: Point) => number
  readonly told: (point: Point) => ComponentChildren
}

export type ChartProps<Point> = {
  readonly caption: string
  readonly unit: string
  readonly points: readonly Point[]
  readonly series: readonly Series<Point>[]
  readonly totalOf?: (point: Point) => ComponentChildren
  /** Draws what is not added up; by default it has bars, one on the other. */
  readonly lines?: (x: (i: number) => number, y: (value: number) => number) => ComponentChildren
  /** The last moment is not over. */
  readonly isCounting?: boolean
  /** The least; it takes more where its panel has more. */
  readonly height?: number
}

type Props<Point> = ChartProps<Point> & {
  readonly nameOf: (point: Point) => string
  /** The first and the last of the points that were clicked, dragged over or chosen by keyboard. */
  readonly onPick?: ((first: number, last: number) => void) | undefined
}

/** The unit is above the bars, the moments are below them. */
const [TOP, BOTTOM] = [22, 24]
const WIDEST_BAR = 64
const HALF_A_MOMENT = 18
const TIP_GAP = 8
const leftOf = (ticks: readonly number[]) => Math.max(44, ...ticks.map((tick) => 16 + 7 * tickText(tick).length))
export const colourIn = (token: string) => `var(--${token})`

export function Chart<Point>(props: Props<Point>) {
  const { caption, unit, points, series, totalOf, nameOf, lines, isCounting, height: least = 240, onPick } = props
  const frame = useRef<HTMLDivElement>(null)
  const [{ width, height }, setSize] = useState({ width: 900, height: least })
  useSize(frame, (element) => setSize({ width: element.clientWidth, height: element.clientHeight }))
  const [at, setAt] = useState<number | undefined>(undefined)
  const [since, setSince] = useState<number | undefined>(undefined)
  const isWhole = points.every((point) => series.every(({ of }) => Number.isInteger(of(point))))
  const values = points.map((point) => series.map(({ of }) => Math.max(0, of(point))))
  const heights = values.map((some) => (lines ? Math.max(...some) : sumOf(some, Number)))
  const ticks = ticksTo(Math.max(0, ...heights), isWhole)
  const axis = leftOf(ticks)
  const step = Math.max(1, width - axis) / Math.max(1, points.length)
  const y = (value: number) => TOP + (height - BOTTOM - TOP) * (1 - value / (ticks.at(-1) ?? 1))
  const middle = (i: number) => axis + (i + 0.5) * step
  const bar = Math.min(WIDEST_BAR, step > 6 ? step - Math.min(8, step / 5) : step)
  const isLast = (i: number) => isCounting && i === points.length - 1
  // So that the names of moments do not touch.
  const everyNth = Math.max(1, Math.ceil((points.length * 64) / Math.max(1, width - axis)))
  const here = at === undefined ? undefined : points[at]
  const [first = 0, last = 0] = at === undefined ? [] : [Math.min(at, since ?? at), Math.max(at, since ?? at)]
  const moved = (event: KeyboardEvent) => {
    const several = stepOf(event, span)
    const by = several ?? stepOf(event, times)
    if (by !== undefined) {
      event.preventDefault()
      setSince(several && (since ?? at))
      setAt((now) => Math.min(points.length - 1, Math.max(0, (now ?? (by > 0 ? -1 : points.length)) + by)))
    }
    if (isKey(event, leave)) left()
    if (isKey(event, take)) picked()
  }
  const left = () => {
    setAt(undefined)
    setSince(undefined)
  }
  const picked = () => {
    if (at === undefined) return
    onPick?.(first, last)
    left()
  }
  /** The plot as it is on the screen counts: its size is told later. */
  const pointed = (event: MouseEvent) => {
    const box = (frame.current as Element).getBoundingClientRect()
    const share = (event.clientX - box.left - axis) / (box.width - axis)
    setAt(share < 0 ? undefined : Math.min(points.length - 1, Math.floor(points.length * share)))
  }
  return (
    <div
      class={onPick ? 'chart picked' : 'chart'}
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
      <div class="plot" ref={frame} style={{ minHeight: `${least}px` }}>
        <svg class="quiet" font-size="0.6875rem" aria-hidden="true">
          {ticks.map((tick) => (
            <g key={tick}>
              <line stroke="var(--line)" x1={axis} x2={width} y1={y(tick)} y2={y(tick)} />
              <text x={axis - 8} y={y(tick) + 4} text-anchor="end">
                {tickText(tick)}
              </text>
            </g>
          ))}
          <text y="10">{unit}</text>
          {here && (
            <rect
              fill="var(--chosen)"
              x={axis + first * step}
              width={step * (1 + last - first)}
              height={height - BOTTOM}
            />
          )}
          {lines
            ? lines(middle, y)
            : values.map((own, i) => (
                <g key={i} opacity={isLast(i) ? 0.5 : undefined}>
                  {own.map((value, place) => {
                    const below = sumOf(own.slice(0, place), Number)
                    const shape = { rx: 2, width: bar, x: middle(i) - bar / 2, y: y(below + value) }
                    const drawn = Math.max(1, y(below) - shape.y - 1)
                    return value > 0 && <rect {...shape} fill={colourIn(series[place]?.colour ?? '')} height={drawn} />
                  })}
                </g>
              ))}
          {points.map(
            (point, i) =>
              i % everyNth === 0 && (
                <text key={i} x={Math.min(middle(i), width - HALF_A_MOMENT)} y={height - 6} text-anchor="middle">
                  {nameOf(point)}
                </text>
              ),
          )}
        </svg>
        {at !== undefined && here && (
          <div class="tip floating panel small" aria-live="polite" style={besides(middle(at), bar / 2, width)}>
            <strong>{nameOf(here) + (isLast(at) ? ', so far' : '')}</strong>
            <dl class="plain">
              {series
                .filter(({ of }) => of(here))
                .map(({ label, colour, told }) => (
                  <div key={label} class="row between">
                    <dt>
                      <Swatch of={colour} /> {label}
                    </dt>
                    <dd>{told(here)}</dd>
                  </div>
                ))}
            </dl>
            {totalOf && <strong class="row between">Total {totalOf(here)}</strong>}
          </div>
        )}
      </div>
      <ul class="row wrap plain small quiet legend">
        {series.map(({ label, colour }) => (
          <li key={label}>
            <Swatch of={colour} /> {label}
          </li>
        ))}
        {isCounting && <li>The pale one: so far</li>}
      </ul>
    </div>
  )
}

/** On the side of its bar that has more room. */
function besides(middle: number, half: number, width: number) {
  const isLeft = middle > width / 2
  const away = half + TIP_GAP + (isLeft ? width - middle : middle)
  return { [isLeft ? 'right' : 'left']: `${away}px`, maxWidth: `${width - away}px` }
}

export const LINE = {
  fill: 'none',
  stroke: 'currentcolor',
  'stroke-width': 1.6,
  'stroke-linecap': 'round',
  'stroke-linejoin': 'round',
} as const

export function Swatch({ of }: { readonly of: string }) {
  return (
    <svg width="0.7rem" height="0.7rem" viewBox="0 0 10 10" aria-hidden="true">
      <rect fill={colourIn(of)} width="10" height="10" rx="3" />
    </svg>
  )
}
