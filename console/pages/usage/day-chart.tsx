import type { UsageBucket, UsagePage } from '../../../layers/admin/api/shapes/usage.ts'
import { colourOf, type DrawnGroups, groupsOf, OTHERS } from './drawn-groups.ts'

const WIDTH = 1000
const HEIGHT = 220

/** A bar for each day, stacked by group. The heights are the server's shares: nothing is computed with amounts. */
export function DayChart({ page }: { readonly page: UsagePage }) {
  const drawn = groupsOf(page)
  const step = WIDTH / Math.max(1, page.data.length)
  const [first, last] = [page.data[0], page.data.at(-1)]
  return (
    <figure class="chart">
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`Cost by day and ${page.group_by}; the numbers are in the tables below`}
      >
        {page.data.map((bucket, i) => (
          <g key={bucket.start_time} class={bucket.closed ? undefined : 'counting'}>
            <title>{bucket.start_time.slice(0, 10)}</title>
            {partsOf(bucket, drawn).map(({ colour, bottom, height }) => (
              <rect
                key={colour}
                class={colour}
                x={Math.round(i * step * 10) / 10 + 1}
                y={HEIGHT - bottom - height}
                width={Math.max(1, Math.round(step * 10) / 10 - 2)}
                height={height}
              />
            ))}
          </g>
        ))}
      </svg>
      <figcaption class="quiet">
        <span>{first?.start_time.slice(0, 10)}</span>
        <span>cost by day (UTC)</span>
        <span>{last?.start_time.slice(0, 10)}</span>
      </figcaption>
    </figure>
  )
}

type Part = { readonly colour: string; readonly bottom: number; readonly height: number }

function partsOf({ results }: UsageBucket, drawn: DrawnGroups): Part[] {
  const shares = Array<number>(OTHERS + 1).fill(0)
  for (const { group, share } of results) {
    const place = drawn.get(group) ?? OTHERS
    shares[place] = (shares[place] ?? 0) + share
  }
  const names = [...drawn.keys()]
  let bottom = 0
  return shares.flatMap((share, i) => {
    if (share === 0) return []
    const part = { colour: colourOf(names[i] ?? '', drawn), bottom, height: (share * HEIGHT) / 1000 }
    bottom += part.height
    return [part]
  })
}
