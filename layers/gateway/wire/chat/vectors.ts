import type { Vector, VectorFormat } from '../../domain/chat/embedding.ts'
import { UpstreamFailure } from '../../domain/routing/upstream-failure.ts'

/** 32-bit floats are in the byte order of the machine, which is that of the format on every platform of Node. */
export function readVector(sent: unknown, dimensions: number, format: VectorFormat): Vector {
  const vector = typeof sent === 'string' ? decode(sent) : copy(sent, format)
  if (vector?.length !== dimensions) {
    const reason = vector && vector.length > dimensions ? 'runaway' : 'protocol'
    throw malformed(`a vector of ${vector?.length ?? 'no'} numbers where ${dimensions} were expected`, reason)
  }
  if (!vector.every(Number.isFinite)) throw malformed('a vector with something in it that is no number')
  return vector
}

export function writeVector(vector: Vector, format: VectorFormat): string {
  if (format === 'float') return `[${vector.join(',')}]`
  return `"${Buffer.from(Float32Array.from(vector).buffer).toString('base64')}"`
}

function decode(base64: string): Vector | undefined {
  const bytes = Buffer.from(base64, 'base64')
  if (bytes.length % Float32Array.BYTES_PER_ELEMENT !== 0) return undefined
  return new Float32Array(Uint8Array.from(bytes).buffer)
}

function copy(numbers: unknown, format: VectorFormat): Vector | undefined {
  if (!Array.isArray(numbers)) return undefined
  const vector = format === 'float' ? new Float64Array(numbers.length) : new Float32Array(numbers.length)
  for (let i = 0; i < numbers.length; i++) vector[i] = typeof numbers[i] === 'number' ? numbers[i] : Number.NaN
  return vector
}

function malformed(what: string, reason: 'protocol' | 'runaway' = 'protocol'): UpstreamFailure {
  return new UpstreamFailure(reason, `The upstream sent ${what}.`)
}
