import type { EventShape } from '../../layers/admin/api/shapes/books.ts'

export function EventChange({ event: { before, after } }: { readonly event: EventShape }) {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])]
  if (names.length === 0) return null
  return (
    <ul class="plain">
      {names.map((name) => (
        <li key={name}>
          {name}: {valueText(before?.[name])} → {valueText(after?.[name])}
        </li>
      ))}
    </ul>
  )
}

function valueText(value: unknown): string {
  if (value === undefined || value === null) return '–'
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map(valueText).join(', ')
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
