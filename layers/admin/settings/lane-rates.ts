/** The requests a second that one item takes, by the seconds that each streams, as the table of lanes in docs/performance.md has them. */
const OF_ONE = [
  { streamSeconds: 4, requests: 71 },
  { streamSeconds: 20, requests: 33 },
  { streamSeconds: 60, requests: 19 },
]

export function rateText(lanes: number): string {
  const rates = OF_ONE.map(({ streamSeconds, requests }, i) => {
    const count = (lanes * requests).toLocaleString('en')
    return `${count}${i === 0 ? ' requests a second' : ''} with streams of ${streamSeconds} s`
  })
  return `about ${rates.join(', ')}`
}
