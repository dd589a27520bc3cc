import { counted } from './counted.ts'
/** `4 ms`, `0.42 s` or `2 min 5 s`; exact when it is pointed at. */
export function Took({ ms }: { readonly ms: number | null | undefined }) {
  if (ms === null || ms === undefined) return <span class="quiet">–</span>
  return <span title={`${counted(ms)} ms`}>{durationText(ms)}</span>
}

export function durationText(ms: number): string {
  if (ms < 100) return `${Math.round(ms)} ms`
  if (ms < 10_000) return `${(ms / 1000).toFixed(2)} s`
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`
  return `${Math.floor(ms / 60_000)} min ${Math.floor(ms / 1000) % 60} s`
}
