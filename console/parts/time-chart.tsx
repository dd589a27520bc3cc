import { useZone, type Zone } from '../preferences.ts'
import { Chart, type ChartProps } from './chart.tsx'

type Bucket = { readonly start_time: string; readonly end_time?: string }

type Props<Point> = ChartProps<Point> & {
  readonly isByHour: boolean
  /** From the start of the first bucket to the end of the last. */
  readonly onPick?: ((from: string, to: string) => void) | undefined
}

/** A chart of hours or days. */
export function TimeChart<Point extends Bucket>({ isByHour, onPick, ...chart }: Props<Point>) {
  const zone = useZone()
  const picked = (first: number, last: number) =>
    onPick?.(chart.points[first]?.start_time ?? '', chart.points[last]?.end_time ?? '')
  return (
    <Chart {...chart} nameOf={({ start_time }) => momentText(start_time, isByHour, zone)} onPick={onPick && picked} />
  )
}

/** An hour in the chosen zone; a day is a UTC day. */
function momentText(start: string, isByHour: boolean, zone: Zone): string {
  if (!isByHour) return start.slice(5, 10)
  if (zone === 'utc') return start.slice(11, 16)
  const time = new Date(start)
  return `${String(time.getHours()).padStart(2, '0')}:${String(time.getMinutes()).padStart(2, '0')}`
}
