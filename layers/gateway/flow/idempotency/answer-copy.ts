import { MOST_TEXT_CHARS } from './answer-cipher.ts'

/** The frames of a stream, kept for a retry. Beyond the size that can be stored nothing is kept at all. */
export class AnswerCopy {
  #frames: string[] = []
  #chars = 0

  add(...frames: readonly string[]): void {
    for (const frame of frames) {
      this.#chars += frame.length
      if (this.#chars <= MOST_TEXT_CHARS) this.#frames.push(frame)
      else this.#frames = []
    }
  }

  /** Undefined if the answer is too large to be kept. */
  get text(): string | undefined {
    return this.#chars <= MOST_TEXT_CHARS ? this.#frames.join('') : undefined
  }
}
