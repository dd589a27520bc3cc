import type { ChatPart } from '../domain/chat.ts'
import type { PricedRequest } from '../domain/priced-request.ts'
import { UpstreamFailure } from '../domain/upstream-failure.ts'
import { hasMedia, speaks, textOf } from '../wire/delta.ts'
import { TextSample } from './text-sample.ts'

// A delta is rarely less than a token and a token rarely more than a word, but some upstreams send single letters and
// some tokens are long runs of spaces. Past these an upstream is not honouring its cap.
const MOST_DELTAS_PER_TOKEN = 4
const SPARE_DELTAS = 256
const MOST_CHARS_PER_TOKEN = 128
const SPARE_CHARS = 64 * 1024

/** A stream whose deltas are longer than this on average does not show its tokens one by one. */
const MOST_CHARS_PER_TOKEN_DELTA = 16

/** Counts what an upstream has delivered so far, as far as the bill needs it. */
export class Tally {
  /** The last usage object reported, of unknown worth. */
  reported: unknown
  readonly #said = new TextSample()
  #deltas = 0
  #spoken = 0
  #hasMedia = false
  readonly #speakers = new Set<number>()
  readonly #mostDeltas: number
  readonly #mostChars: number

  constructor(priced: PricedRequest) {
    const cap = priced.outputCap * priced.chat.choices
    this.#mostDeltas = cap * MOST_DELTAS_PER_TOKEN + SPARE_DELTAS
    this.#mostChars = cap * MOST_CHARS_PER_TOKEN + SPARE_CHARS
  }

  get deliveredAnything(): boolean {
    return this.#spoken > 0
  }

  /** Sounds and pictures were delivered, whose tokens cannot be counted. */
  get hasMedia(): boolean {
    return this.#hasMedia
  }

  /** How many choices have said something. */
  get choices(): number {
    return this.#speakers.size
  }

  add(part: ChatPart): void {
    if (part.kind === 'usage') {
      this.reported = part.usage
      return
    }
    const text = textOf(part.delta)
    this.#deltas += 1
    this.#said.add(text)
    if (text !== '' || speaks(part.delta)) {
      this.#spoken += 1
      this.#speakers.add(part.index)
      this.#hasMedia ||= hasMedia(part.delta)
    }
    if (this.#deltas > this.#mostDeltas || this.#said.chars > this.#mostChars) {
      throw new UpstreamFailure('runaway', 'The upstream went on beyond the output limit it was given.')
    }
  }

  /** Whether this many tokens are at least those that could be seen to arrive one by one. */
  isAtLeastSeen(tokens: number): boolean {
    return tokens >= this.#spoken && this.#said.chars <= this.#spoken * MOST_CHARS_PER_TOKEN_DELTA
  }

  /** What was said, or of a long answer a sample, to be counted. */
  get sample(): string {
    return this.#said.kept
  }

  /** Tokens in everything delivered, if the sample has so many. */
  scale(tokensInSample: number): number {
    return this.#said.scale(tokensInSample)
  }
}
