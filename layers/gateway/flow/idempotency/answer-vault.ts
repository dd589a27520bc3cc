import { createCipheriv, createDecipheriv, createHash, createHmac, hkdfSync, randomBytes } from 'node:crypto'
import { type AnswerClaim, MOST_TEXT_CHARS } from '../../domain/admission/idempotency.ts'
import type { Log } from '../../platform/log/log.ts'
import { attempter } from '../../platform/retry.ts'
import type { AnswerStore } from '../../store/idempotency/answers.ts'
import type { HeldClaim } from '../request.ts'

/**
 * Keeps the answer of a request that claims an Idempotency-Key. An answer is stored before it is settled: if we die in
 * between, it is given again and was free; the other way round it would be charged twice. A failure costs the caller a
 * replay, not the answer.
 */
export function heldClaim(answers: AnswerStore, log: Log, claim: AnswerClaim, cipher: AnswerCipher): HeldClaim {
  const attempt = attempter(log)
  const { requestId } = claim
  return {
    newCopy: () => new AnswerCopy(),
    async keep(text) {
      const keep = async () => answers.keep(claim, text === undefined ? undefined : cipher.encrypt(text))
      await attempt('an answer could not be kept', keep, requestId)
    },
    async drop() {
      await attempt('a claim could not be dropped', () => answers.drop(claim), requestId)
    },
  }
}

/** The frames of a stream, kept for a retry. Beyond the size that can be stored nothing is kept at all. */
class AnswerCopy {
  #frames: string[] = []
  #chars = 0

  add(...frames: readonly string[]): void {
    for (const frame of frames) {
      this.#chars += frame.length
      if (this.#chars <= MOST_TEXT_CHARS) this.#frames.push(frame)
      else this.#frames = []
    }
  }

  get text(): string | undefined {
    return this.#chars <= MOST_TEXT_CHARS ? this.#frames.join('') : undefined
  }
}

/** DynamoDB accepts 400 KB in one item. */
const MOST_SEALED_BYTES = 300 * 1024

/** Lazy: loaded with the first answer that is kept, because a cold start would pay 3 ms for it. */
const zlib = () => process.getBuiltinModule('node:zlib')

const IV_BYTES = 12
const TAG_BYTES = 16

/** The id under which the answer to a key's Idempotency-Key is stored. It does not reveal the Idempotency-Key. */
export function answerId(keyId: string, idempotencyKey: string): string {
  return createHash('sha256').update(`${keyId}\n${idempotencyKey}`).digest('hex')
}

/**
 * Encrypts an answer with a key derived from the secret it was asked with. Only the secret's hash is stored, so neither
 * the operator nor a copy of the table can decrypt the answer.
 */
export class AnswerCipher {
  readonly #id: string
  readonly #cipherKey: Uint8Array
  readonly #fingerprintKey: Uint8Array

  constructor(secret: string, id: string) {
    const keys = new Uint8Array(hkdfSync('sha256', secret, id, 'waybill kept answer', 64))
    this.#id = id
    this.#cipherKey = keys.subarray(0, 32)
    this.#fingerprintKey = keys.subarray(32)
  }

  /** Equal for equal bodies. Without the secret it reveals nothing about the body. */
  fingerprint(body: string): string {
    return createHmac('sha256', this.#fingerprintKey).update(body).digest('base64')
  }

  /** Undefined if the answer is too large to be kept. */
  encrypt(text: string): Uint8Array | undefined {
    if (text.length > MOST_TEXT_CHARS) return undefined
    const iv = randomBytes(IV_BYTES)
    const cipher = createCipheriv('aes-256-gcm', this.#cipherKey, iv).setAAD(Buffer.from(this.#id))
    const sealed = Buffer.concat([iv, cipher.update(zlib().gzipSync(text)), cipher.final(), cipher.getAuthTag()])
    return sealed.length > MOST_SEALED_BYTES ? undefined : sealed
  }

  /** Throws if the bytes were changed, or encrypted with another secret. */
  decrypt(sealed: Uint8Array): string {
    const decipher = createDecipheriv('aes-256-gcm', this.#cipherKey, sealed.subarray(0, IV_BYTES))
    decipher.setAAD(Buffer.from(this.#id)).setAuthTag(sealed.subarray(-TAG_BYTES))
    const zipped = Buffer.concat([decipher.update(sealed.subarray(IV_BYTES, -TAG_BYTES)), decipher.final()])
    return zlib().gunzipSync(zipped).toString()
  }
}
