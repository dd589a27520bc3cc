export function readStops(stop: unknown): string[] {
  const stops: unknown[] = Array.isArray(stop) ? stop : [stop]
  return stops.filter((text): text is string => typeof text === 'string' && text !== '')
}
