/** The limits that the bootstrap of Lambda's Node runtimes sets: a tenth for the young generation, in two halves. */
export function heapLimits(memoryMb: number): string[] {
  const young = Math.floor(memoryMb / 10)
  return [`--max-semi-space-size=${Math.floor(young / 2)}`, `--max-old-space-size=${memoryMb - young}`]
}
