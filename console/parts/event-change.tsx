import type { EventShape } from '../../layers/admin/api/shapes/books.ts'

type Props = { readonly event: EventShape }

export function EventChange({ event }: Props) {
  const lines = linesOf(event)
  return lines.length === 0 ? null : (
    <ul class="plain">
      {lines.map((line) => (
        <li key={line}>{line}</li>
      ))}
    </ul>
  )
}

/** A change in one line, of which the rest folds out. */
export function EventLine({ event }: Props) {
  const lines = linesOf(event)
  if (lines.length === 0) return null
  const shown = lines.join(' · ')
  return lines.length === 1 ? (
    <span title={shown}>{shown}</span>
  ) : (
    <details class="folded">
      <summary>{shown}</summary>
      <EventChange event={event} />
    </details>
  )
}

function linesOf({ before, after }: EventShape): string[] {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])]
  return names.map((name) => {
    const now = valueText(after?.[name])
    return before === null ? `${name}: ${now}` : `${name}: ${valueText(before[name])} → ${now}`
  })
}

function valueText(value: unknown): string {
  if (value === undefined || value === null) return '–'
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map(valueText).join(', ')
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
