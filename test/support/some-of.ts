// Tables of many cases of one kind: `npm test` tries some of each, and every night all of them (TEST_CASES=all).

const isAll = process.env.TEST_CASES === 'all'

/** Every nth. */
export function someOf<T>(cases: readonly T[], n: number): T[] {
  return isAll ? [...cases] : cases.filter((_, i) => i % n === 0)
}

export function someTimes(some: number, all: number): number {
  return isAll ? all : some
}
