import { Credits } from '../parts/credits.tsx'
import { ticksTo, tickText } from '../parts/scale.ts'
import type { DaySum } from './days.ts'

const [WIDTH, HEIGHT, BOTTOM] = [640, 170, 20]
/** Of a figure of a tick, as a narrow screen shows it. */
const FIGURE_WIDTH = 11
const NAMED_EVERY = 7

/** Bars of days, and the same as a table, for people who cannot see them and for those who want the numbers. */
export function DayChart({ days }: { readonly days: readonly DaySum[] }) {
  const ticks = ticksTo(Math.max(...days.map(({ cost }) => Number(cost))))
  const left = 16 + FIGURE_WIDTH * Math.max(...ticks.map((tick) => tickText(tick).length))
  const y = (value: number) => 8 + (HEIGHT - BOTTOM - 8) * (1 - value / (ticks.at(-1) ?? 1))
  const step = (WIDTH - left) / days.length
  return (
    <>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        role="img"
        aria-label="Credits charged by day. The table below has the numbers."
      >
        {ticks.map((tick) => (
          <g key={tick}>
            <line class="grid" x1={left} x2={WIDTH} y1={y(tick)} y2={y(tick)} />
            <text class="tick" x={left - 6} y={y(tick) + 4} text-anchor="end">
              {tickText(tick)}
            </text>
          </g>
        ))}
        {days.map(({ day, cost }, i) => (
          <g key={day}>
            <rect
              class="bar"
              rx={2}
              x={left + i * step + 2}
              width={step - 4}
              y={y(Number(cost))}
              height={y(0) - y(Number(cost))}
            >
              <title>{`${day}: ${cost} credits`}</title>
            </rect>
            {(days.length - 1 - i) % NAMED_EVERY === 0 && (
              <text
                class="tick"
                x={left + (i + 0.5) * step}
                y={HEIGHT - 4}
                text-anchor={i > days.length - 3 ? 'end' : 'middle'}
              >
                {day.slice(5)}
              </text>
            )}
          </g>
        ))}
      </svg>
      <details>
        <summary>As a table</summary>
        <table>
          <thead>
            <tr>
              <th scope="col">UTC day</th>
              <th scope="col">Requests</th>
              <th scope="col">Tokens</th>
              <th scope="col">Charged</th>
            </tr>
          </thead>
          <tbody>
            {days
              .filter(({ requests }) => requests > 0)
              .toReversed()
              .map(({ day, requests, total_tokens: tokens, cost }) => (
                <tr key={day}>
                  <th scope="row">{day}</th>
                  <td>{requests.toLocaleString('en')}</td>
                  <td>{tokens.toLocaleString('en')}</td>
                  <td>
                    <Credits of={cost} />
                  </td>
                </tr>
              ))}
          </tbody>
        </table>
      </details>
    </>
  )
}
