import { hash } from 'node:crypto'
import { badRequest, GatewayError } from '../../domain/basics/gateway-error.ts'
import type { UnknownField } from '../../domain/chat/chat.ts'
import { closest } from './closest.ts'
import { badField, described, type Wanted, wantedText } from './field-rules.ts'

/** Names of fields are the caller's own and as long as it likes. */
const MAX_PATH_CHARS = 100
/** The most unknown fields that a request may have, and the most different ones. */
const MOST_UNKNOWN = 50_000
const MOST_DIFFERENT = 1_000
/** More names than the header that reports them can hold. */
const MOST_NATIVE = 50
const NONE: readonly string[] = []

const WHY = 'because it may change what the provider bills'
const HOW = 'the operator of this gateway can allow it'

export class Reading {
  readonly #callerId: string
  readonly #path: (string | number)[]
  readonly #unknown: UnknownField[] = []
  readonly #inside = new Set<string>()
  #native: Set<string> | undefined
  #seen = 0

  constructor(callerId: string, path: readonly (string | number)[] = []) {
    this.#callerId = callerId
    this.#path = [...path]
  }

  get unknown(): readonly UnknownField[] {
    return this.#unknown
  }

  get native(): readonly string[] {
    return this.#native ? [...this.#native] : NONE
  }

  enter(step: string | number): void {
    this.#path.push(step)
  }

  leave(): void {
    this.#path.pop()
  }

  refuse(wanted: Wanted, got: unknown, beside?: unknown): never {
    throw badField(this.#here() || 'The request body', wanted, got, beside)
  }

  forbid(why: string): never {
    const param = this.#here()
    throw badRequest('unsupported_parameter', `'${param}' ${why}.`, param)
  }

  other(name: string, known: readonly string[]): void {
    this.#path.push(name)
    this.#note('unknown_parameter', (param) => {
      const meant = closest(name, known)
      const advice = meant ? `; did you mean \`${meant}\`?` : '.'
      return `Unknown field \`${param}\`${advice} It is not passed on by this gateway, ${WHY}. Leave it out; ${HOW}.`
    })
    this.#path.pop()
  }

  paid(): undefined {
    this.#note(
      'unsupported_parameter',
      (param) => `'${param}' is not passed on by this gateway, ${WHY}. Leave it out; ${HOW}.`,
    )
    return undefined
  }

  /** Notes a value that may cost more than the list price. It is left out. */
  dearer(wanted: Wanted, got: unknown, words: Wanted = wanted): undefined {
    this.#note('unsupported_parameter', (param) => {
      const only = `is passed on by this gateway only as ${wantedText(wanted)}, ${WHY} otherwise`
      const but = typeof got === 'string' ? `, but ${described(words, got)}` : '.'
      return `'${param}' ${only}${but} Change it; ${HOW}.`
    })
    return undefined
  }

  /** Leaves out a value without which the request can still be answered, and reports that. */
  leaveOut(why: string, more: Partial<UnknownField> = {}): undefined {
    this.#note('unsupported_parameter', (param) => `'${param}' ${why}.`, { ...more, isOptional: true })
    return undefined
  }

  /** Notes a value that only providers of the request's own API format get. `kind` is that of an element. */
  noteNative(kind?: string): void {
    this.#native ??= new Set()
    if (this.#native.size === MOST_NATIVE) return
    const name = this.#here().replaceAll(/\[\d+\]/g, '[]')
    this.#native.add(kind === undefined ? name : `${name}.${kind}`)
  }

  /** Reads a value that is only of use as a whole: undefined if a part of it would be refused. */
  whole(read: (value: unknown, at: Reading) => unknown, sent: unknown): unknown {
    const inner = new Reading(this.#callerId, this.#path)
    try {
      const built = read(sent, inner)
      return inner.unknown.length === 0 ? built : undefined
    } catch (error) {
      if (error instanceof GatewayError) return undefined
      throw error
    }
  }

  /** The name that is sent in place of one of the caller's own, so that no caller acts under the name of another. */
  alias(name: string): string {
    return hash('sha256', `${this.#callerId}\n${name}`, 'base64url')
  }

  /** The same field of many elements is noted once. */
  #note(code: UnknownField['code'], complaint: (param: string) => string, more: Partial<UnknownField> = {}): void {
    const isInside = this.#path.length > 1
    if (++this.#seen > MOST_UNKNOWN || this.#unknown.length === MOST_DIFFERENT) {
      const message = 'The request has more fields that this gateway does not know than it looks at. Leave them out.'
      throw badRequest('invalid_body', message)
    }
    const param = this.#here()
    const name = more.name ?? param.replaceAll(/\[\d+\]/g, '[]')
    if (isInside && this.#inside.has(name)) return
    if (isInside) this.#inside.add(name)
    const noted = { root: String(this.#path[0]), param, code, complaint: () => complaint(param) }
    this.#unknown.push({ ...noted, ...more, name })
  }

  #here(): string {
    let path = ''
    for (const step of this.#path) {
      if (typeof step === 'number') path += `[${step}]`
      else path += path === '' ? step : `.${step}`
      if (path.length > MAX_PATH_CHARS) break
    }
    return path.slice(0, MAX_PATH_CHARS)
  }
}
