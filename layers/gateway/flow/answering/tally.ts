import type { ChatPart, ChoicePart, HostedTool } from '../../domain/chat/chat.ts'
import { countsOf } from '../../domain/money/bill.ts'
import { LeastTokens } from '../../domain/money/least-tokens.ts'
import type { Price } from '../../domain/money/price.ts'
import type { PricedRequest } from '../../domain/money/priced-request.ts'
import { otherTier } from '../../domain/routing/catalog.ts'
import { UpstreamFailure } from '../../domain/routing/upstream-failure.ts'
import { cutDelta, hasMedia, speaks, textOf } from '../../wire/chat/delta.ts'
import { sealPart } from '../../wire/chat/sealed-content.ts'
import { mergeUsage, readUsage } from '../../wire/money/usage-counts.ts'

/** An answer that its own tokenizer counts a little differently than ours is not beyond its cap. */
const SPARE_TOKENS = 16

/** Deltas without text have no content, or none that can be counted. Beyond this many the upstream may never end. */
const MOST_SILENT_PER_TOKEN = 4
const SPARE_SILENT = 256

/** A stream whose deltas are longer than this on average does not show its tokens one by one. */
const MOST_CHARS_PER_TOKEN_DELTA = 16

type Choice = { readonly least: LeastTokens; readonly said: TextSample; isOpen: boolean; isCut: boolean }

/** Counts the delivered part of an answer, as far as the bill needs it, and cuts the part beyond the cap. */
export class Tally {
  /** The usage objects reported, as one, not checked yet. */
  reported: unknown
  /** True once the upstream has accepted the request, and so bills it. */
  isAnswered = false
  fault: UpstreamFailure | undefined
  /** The tools that the upstream was offered to run by itself. */
  offered: readonly HostedTool[] = []
  /** The tier that the upstream was asked for, if it has a price. */
  askedTier: string | undefined
  stopReason: string | undefined
  /** The end of the choice that ended first. */
  finishReason: string | undefined
  /** True if audio or images were delivered, whose tokens cannot be counted. */
  hasMedia = false
  isAtCap = false
  readonly #price: Price
  readonly #provider: string
  #isClosed = false
  #cuts = 0
  readonly #choices = new Map<number, Choice>()
  readonly #asked: number
  readonly #outputCap: number
  readonly #mostSilent: number
  #spoken = 0
  #silent = 0
  #serviceTier: unknown

  constructor({ chat, outputCap, model }: PricedRequest, provider: string) {
    this.#provider = provider
    this.#price = model.tokenPrice
    this.#asked = chat.choices
    this.#outputCap = outputCap
    this.#mostSilent = outputCap * chat.choices * MOST_SILENT_PER_TOKEN + SPARE_SILENT
  }

  get deliveredAnything(): boolean {
    return this.#spoken > 0
  }

  get isCounted(): boolean {
    return readUsage(this.reported)?.completion !== undefined
  }

  get isEmpty(): boolean {
    return this.#choices.size === 0
  }

  /**
   * The tier in which the answer was served, if it is none at the list price. An asked one stands for a tier without a
   * price, because OpenAI has two names for one, and, if it costs more, for a tier that the upstream does not name.
   */
  get serviceTier(): string | undefined {
    const [served, asked] = [otherTier(this.#serviceTier), this.askedTier]
    const own = asked === undefined ? undefined : this.#price.serviceTiers.get(asked)
    if (!own || (served !== undefined && this.#price.serviceTiers.has(served))) return served
    const isDearer = own.inputPico > this.#price.inputPico || own.outputPico > this.#price.outputPico
    const isUnnamed = this.#serviceTier === undefined || this.#serviceTier === null
    return served !== undefined || (isUnnamed && isDearer) ? asked : undefined
  }

  get choices(): number {
    return this.#count(({ said, isCut }) => said.chars > 0 || isCut)
  }

  /** The tokens of the choices that were cut, which are charged at their cap. */
  get cutTokens(): number {
    return this.#outputCap * (this.isAtCap ? this.#asked : this.#cuts)
  }

  get isClosed(): boolean {
    return this.#isClosed || this.fault !== undefined || this.isOver
  }

  close(): void {
    this.#isClosed = true
  }

  /** True if no more need be read, because every choice was cut, or has ended beside one that was. */
  get isOver(): boolean {
    if (this.cutTokens === 0) return false
    const isLeft = this.#choices.size < this.#asked || this.#count(({ isOpen }) => isOpen) > 0
    return !isLeft || this.#silent > this.#mostSilent
  }

  /** True if the upstream went on beyond its cap, by its text or by its own count. */
  get isBeyondCap(): boolean {
    if (this.cutTokens > 0) return true
    const reported = readUsage(this.reported)
    const { completion = 0 } = reported ? countsOf(reported) : {}
    return completion > this.#outputCap * this.#asked + SPARE_TOKENS
  }

  /** Counts a part. Returns the part of it that is within the cap, usually all of it, with the mark of its provider. */
  take(part: ChatPart): ChoicePart | undefined {
    if (part.kind !== 'fault') this.#serviceTier = part.serviceTier ?? this.#serviceTier
    if (part.kind === 'usage') {
      this.reported = mergeUsage(this.reported, part.usage)
      return undefined
    }
    if (part.kind === 'fault') {
      this.fault ??= part.failure
      return undefined
    }
    if (this.isClosed) return undefined
    const choice = this.#choiceAt(part.index)
    if (!choice || choice.isCut) return this.#noteSilent()
    const text = textOf(part.delta)
    const chars = choice.least.add(text, this.#outputCap + SPARE_TOKENS)
    if (chars < text.length) return sealPart(this.#cut(choice, part, chars), this.#provider)
    if (text !== '') choice.said.add(text)
    else this.#noteSilent()
    if (text !== '' || speaks(part.delta)) {
      this.#spoken += 1
      this.hasMedia ||= hasMedia(part.delta)
    }
    if (part.finishReason !== null) {
      choice.isOpen = false
      this.finishReason ??= part.finishReason
    }
    this.stopReason ??= part.stopReason
    return sealPart(part, this.#provider)
  }

  /** The ends of the choices that are open when no more is read; of an answer without any, its only end. */
  *endings(): Generator<ChoicePart, void, undefined> {
    const end = { kind: 'choice', delta: {}, logprobs: null } as const
    for (const [index, { isOpen }] of this.#choices) if (isOpen) yield { ...end, index, finishReason: 'length' }
    if (this.#choices.size === 0) yield { ...end, index: 0, finishReason: 'stop' }
  }

  /** True if this many tokens are at least those that were seen to arrive one by one. */
  isAtLeastSeen(tokens: number): boolean {
    return tokens >= this.#spoken && this.#chars <= this.#spoken * MOST_CHARS_PER_TOKEN_DELTA
  }

  /** The text of the choices that were not cut, or a sample of it if it is long, to be counted. */
  get sample(): string {
    let kept = ''
    for (const { said, isCut } of this.#choices.values()) if (!isCut) kept += said.kept
    return kept
  }

  /** The tokens of the whole text, if the sample has so many. */
  scale(tokensInSample: number): number {
    const { length } = this.sample
    return length === 0 ? 0 : Math.ceil((tokensInSample * this.#chars) / length)
  }

  #choiceAt(index: number): Choice | undefined {
    const known = this.#choices.get(index)
    if (known || this.#choices.size === this.#asked) return known
    const choice = { least: new LeastTokens(), said: new TextSample(), isOpen: true, isCut: false }
    this.#choices.set(index, choice)
    return choice
  }

  #cut(choice: Choice, part: ChoicePart, chars: number): ChoicePart {
    const finishReason = choice.isOpen ? 'length' : null
    this.finishReason ??= 'length'
    choice.isCut = true
    this.#cuts += 1
    choice.isOpen = false
    this.#spoken += 1
    return { kind: 'choice', index: part.index, delta: cutDelta(part.delta, chars), logprobs: null, finishReason }
  }

  #noteSilent(): undefined {
    this.#silent += 1
    if (this.#silent <= this.#mostSilent || this.cutTokens > 0) return
    throw new UpstreamFailure('runaway', 'The upstream went on beyond the output limit it was given.')
  }

  get #chars(): number {
    let chars = 0
    for (const { said, isCut } of this.#choices.values()) if (!isCut) chars += said.chars
    return chars
  }

  #count(is: (choice: Choice) => boolean): number {
    let count = 0
    for (const choice of this.#choices.values()) if (is(choice)) count += 1
    return count
  }
}

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
