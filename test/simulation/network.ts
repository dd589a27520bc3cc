import { TransactionCanceledException } from '@aws-sdk/client-dynamodb'
import type { Fate } from './history.ts'

/** A sender of messages. One that has crashed gets no answer any more, and its messages may still arrive. */
export type Sender = { readonly name: string; alive: boolean }

export type Message = {
  readonly from: Sender
  /** Its content, for people. */
  readonly label: () => string
  /** Does its work at the other end: returns the answer, or throws it. */
  readonly work: () => unknown
  readonly kind: 'write' | 'transaction' | 'read' | 'upstream'
  /** The names of the items that it writes, or that its transaction names. */
  readonly items: readonly string[]
  /** Its sender never sends it again, so it cannot arrive twice. */
  readonly isSentOnce: boolean
  readonly answer: (value: unknown) => void
  readonly fail: (error: unknown) => void
}

/** A transaction is prepared in one moment and committed in another: until then it is under way for everybody else. */
type Waiting = Message & { readonly isPrepared?: boolean }

/** Put into words only if somebody listens. */
export type Told = () => string

const failure = (name: string) => Object.assign(new Error(name), { name })

/** Between the gateways and everything they talk to. A message waits until it is delivered, in whatever order. */
export class Network {
  readonly waiting: Waiting[] = []
  /** Those whose sender has given up, and that may still arrive. */
  readonly delayed: Message[] = []
  /** How many were not simply answered. */
  faults = 0
  /** An item that is written so often that some write of it is always under way. */
  hotItem: string | undefined
  /** How often an operator has written it. */
  writesOfHotItem = 0

  /** The delivery, for people; undefined if nothing waits. */
  deliver(pick: number, wanted: Fate): Told | undefined {
    const [message] = this.waiting.splice(pick % Math.max(1, this.waiting.length), 1)
    if (!message) return undefined
    const fate = this.#meetsOthers(message) ? 'conflict' : possibleFate(message, wanted)
    if (fate !== 'answered') this.faults += 1
    if (message.kind === 'write' && message.from.name === 'operator' && this.#isHot(message)) this.writesOfHotItem += 1
    if (message.kind === 'transaction' && !message.isPrepared && DOES_ITS_WORK.has(fate)) return this.#prepare(message)
    if (fate === 'repeated') this.delayed.push(message)
    if (fate === 'answered' || fate === 'repeated') {
      const result = perform(message, true)
      return () => describe(message, result)
    }
    if (fate === 'reply lost') {
      const result = perform(message, false)
      message.fail(failure('TimeoutError'))
      return () => `${describe(message, result)}, and the reply is lost`
    }
    if (fate === 'delayed') {
      this.delayed.push(message)
      message.fail(failure('TimeoutError'))
    } else message.fail(fate === 'throttled' ? failure('ProvisionedThroughputExceededException') : conflict(message))
    return () => `${message.from.name}: ${message.label()} is ${fate}`
  }

  land(pick: number): Told | undefined {
    const [message] = this.delayed.splice(pick % Math.max(1, this.delayed.length), 1)
    if (!message) return undefined
    if (this.#meetsOthers(message)) return () => `${message.from.name}: ${message.label()} comes late, to a conflict`
    const result = perform(message, false)
    return () => `${describe(message, result)}, long after it was sent`
  }

  /** Commits a transaction that is prepared: it is under way for milliseconds. */
  commit(): Told | undefined {
    const index = this.waiting.findIndex(({ isPrepared }) => isPrepared)
    return index < 0 ? undefined : this.deliver(index, 'answered')
  }

  #prepare(message: Message): Told {
    this.waiting.push({ ...message, isPrepared: true })
    return () => `${message.from.name}: ${message.label()} is prepared`
  }

  /**
   * DynamoDB refuses a plain write of an item that a transaction under way names, and cancels a transaction with an item
   * that another one names or that others are writing. A prepared transaction is not cancelled any more.
   */
  #meetsOthers(message: Waiting): boolean {
    const { kind, isPrepared, items } = message
    if (isPrepared || items.length === 0 || kind === 'read') return false
    if (kind === 'transaction' && this.#isHot(message)) return true
    return this.waiting.some((other) => {
      const isInItsWay = other.isPrepared || (kind === 'transaction' && other.kind === 'write')
      return isInItsWay && other.items.some((item) => items.includes(item))
    })
  }

  #isHot({ items }: Message): boolean {
    return this.hotItem !== undefined && items.includes(this.hotItem)
  }
}

/** A transaction is prepared first. */
const DOES_ITS_WORK: ReadonlySet<Fate> = new Set(['answered', 'repeated', 'reply lost'])

function possibleFate({ kind, from, isSentOnce, isPrepared }: Waiting, wanted: Fate): Fate {
  if (isPrepared) return wanted === 'reply lost' || wanted === 'repeated' ? wanted : 'answered'
  if (kind === 'upstream') return 'answered'
  if (!from.alive) return wanted === 'throttled' ? 'delayed' : 'answered'
  if (kind === 'read' && wanted === 'conflict') return 'throttled'
  if (isSentOnce && wanted === 'repeated') return 'answered'
  return wanted
}

function perform({ from, work, answer, fail }: Message, isAnswered: boolean): string {
  try {
    const value = work()
    if (isAnswered && from.alive) answer(value)
    return 'done'
  } catch (error) {
    if ((error as Error).name === 'Violation') throw error
    if (isAnswered && from.alive) fail(error)
    return (error as Error).name
  }
}

function describe({ from, label }: Message, result: string): string {
  return `${from.name}${from.alive ? '' : ' (dead)'}: ${label()}: ${result}`
}

function conflict({ kind }: Message): unknown {
  if (kind !== 'transaction') return failure('TransactionConflictException')
  const CancellationReasons = [{ Code: 'TransactionConflict' }]
  return new TransactionCanceledException({ message: 'conflict', $metadata: {}, CancellationReasons })
}
