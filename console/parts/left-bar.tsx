import { Share } from './share.tsx'

type Props = { readonly available: string; readonly granted: string }

/** The share of what was granted that is left; the numbers beside it are the exact ones. */
export function LeftBar({ available, granted }: Props) {
  const share = Number(granted) > 0 ? Number(available) / Number(granted) : 0
  const colour = share < 0.1 ? 'c4' : share < 0.25 ? 'c2' : 'c0'
  return <Share of={share} colour={colour} label="Left of what was granted" title={`Of ${granted} granted`} />
}
