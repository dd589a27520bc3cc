/** Keeps a value as the most recently used one, and drops the oldest beyond the limit. */
export function remember<Value>(known: Map<string, Value>, name: string, value: Value, most: number): void {
  known.delete(name)
  known.set(name, value)
  for (const oldest of known.keys()) {
    if (known.size <= most) break
    known.delete(oldest)
  }
}
