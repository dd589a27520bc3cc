import { createHash, createHmac } from 'node:crypto'

type Data = string | ArrayBuffer | ArrayBufferView

/** Node's SHA-256, and HMAC with a secret, in the form in which AWS's signer takes a hash. */
export class NodeSha256 {
  readonly #secret: Data | undefined
  #hash: ReturnType<typeof createHash> | ReturnType<typeof createHmac>

  constructor(secret?: Data) {
    this.#secret = secret
    this.#hash = begun(secret)
  }

  update(data: Data): void {
    this.#hash.update(bytesOf(data))
  }

  async digest(): Promise<Uint8Array> {
    return this.#hash.digest()
  }

  reset(): void {
    this.#hash = begun(this.#secret)
  }
}

function begun(secret: Data | undefined) {
  return secret === undefined ? createHash('sha256') : createHmac('sha256', bytesOf(secret))
}

function bytesOf(data: Data): Buffer {
  if (typeof data === 'string') return Buffer.from(data)
  return ArrayBuffer.isView(data) ? Buffer.from(data.buffer, data.byteOffset, data.byteLength) : Buffer.from(data)
}
