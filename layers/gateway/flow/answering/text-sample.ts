const WINDOW_CHARS = 2 * 1024
/** A sample has at most 64 Ki characters, and a text up to that is kept whole. */
const MOST_WINDOWS = 32

/** A text of any length in bounded memory: windows over all of it, fewer of them the longer it gets. */
export class TextSample {
  chars = 0
  #windows: string[] = []
  #open = ''
  #seen = 0
  #stride = 1

  add(text: string): void {
    this.chars += text.length
    for (let at = 0; at < text.length; ) {
      const room = WINDOW_CHARS - this.#open.length
      this.#open += text.slice(at, at + room)
      at += room
      if (this.#open.length === WINDOW_CHARS) this.#close()
    }
  }

  get kept(): string {
    return [...this.#windows, ...(this.#isWanted() ? [this.#open] : [])].join('')
  }

  #close(): void {
    if (this.#isWanted() && this.#windows.length === MOST_WINDOWS) {
      this.#windows = this.#windows.filter((_, i) => i % 2 === 0)
      this.#stride *= 2
    }
    if (this.#isWanted()) this.#windows.push(this.#open)
    this.#open = ''
    this.#seen += 1
  }

  #isWanted(): boolean {
    return this.#seen % this.#stride === 0
  }
}
