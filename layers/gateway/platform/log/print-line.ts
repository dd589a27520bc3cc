/** Straight to the log: Lambda's own console adds a prefix that is not JSON. */
export function printLine(line: string): void {
  process.stdout.write(`${line}\n`)
}
