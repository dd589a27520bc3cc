/** Values that several dialects send; undefined if there is none to send. */
export function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined
}

export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** The texts at which an answer ends. */
export function stopsOf(stop: unknown): string[] | undefined {
  const stops = (Array.isArray(stop) ? stop : [stop]).filter((text) => textOf(text) !== undefined)
  return stops.length > 0 ? stops : undefined
}
