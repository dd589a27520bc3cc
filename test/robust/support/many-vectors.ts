import type { Reply } from '../../support/upstream.ts'
import { writeOn } from './write-apart.ts'

// As many numbers as one answer may have.
export const TEXTS = 2_048
export const DIMENSIONS = 1_536

/** Vectors of numbers that are as long as numbers get: 78 MB. */
export const manyVectors: Reply = async (response) => {
  response.writeHead(200, { 'Content-Type': 'application/json' })
  await writeOn(response, vectors())
  response.end()
}

function* vectors() {
  const embedding = `[${Array(DIMENSIONS).fill('-0.012345678901234567e-1').join(', ')}]`
  yield '{"data":['
  for (let index = 0; index < TEXTS; index++) yield `${index > 0 ? ',' : ''}{"index":${index},"embedding":${embedding}}`
  yield '],"usage":{"prompt_tokens":2048,"total_tokens":2048}}'
}
