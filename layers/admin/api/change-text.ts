type Fields = Readonly<Record<string, unknown>> | null

export function changeText({ before, after }: { readonly before: Fields; readonly after: Fields }): string {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])]
  return names.map((name) => `${name} ${textOf(before?.[name])} → ${textOf(after?.[name])}`).join(', ')
}

function textOf(value: unknown): string {
  if (value === undefined || (Array.isArray(value) && value.length === 0)) return '-'
  return Array.isArray(value) ? value.join(' ') : String(value)
}
