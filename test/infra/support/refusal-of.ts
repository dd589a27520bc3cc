/** The words of its error; null if there is none. */
export function refusalOf(act: () => unknown): string | null {
  try {
    act()
    return null
  } catch (error) {
    return (error as Error).message
  }
}
