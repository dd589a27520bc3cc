export function counted(count: number): string {
  return count.toLocaleString('en-US')
}

/** `1 key`, `2 keys`. */
export function countOf(count: number, unit: string): string {
  return `${counted(count)} ${unit}${count === 1 ? '' : 's'}`
}
