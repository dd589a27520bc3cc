import { expect } from '@jest/globals'
import { type Chunk, chunk } from './answers.ts'

/** Every chunk of a stream, after checking all that must hold across them. */
export function readChunks(text: string, includeUsage: boolean): Chunk[] {
  const frames = framesOf(text)
  expect(frames.at(-1)).toBe('data: [DONE]')
  expect(frames.at(-2)).toMatch(/^: x-svc-cost \d+(\.\d+)?$/)
  const chunks = frames.slice(0, -2).map((frame) => chunk.parse(dataOf(frame)))

  const [first] = chunks
  for (const { id, created, model } of chunks) {
    expect({ id, created, model }).toEqual({ id: first?.id, created: first?.created, model: 'test-model' })
  }

  const answer = includeUsage ? chunks.slice(0, -1) : chunks
  for (const it of answer) {
    expect(it.choices).toHaveLength(1)
    expect(it.usage).toBe(includeUsage ? null : undefined)
  }
  if (includeUsage)
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { cost: Number(frames.at(-2)?.split(' ')[2]) } })

  const choices = Map.groupBy(
    answer.flatMap((it) => it.choices),
    ({ index }) => index,
  )
  for (const parts of choices.values()) {
    expect(parts[0]?.delta.role).toBe('assistant')
    expect(parts.map(({ finish_reason }) => finish_reason).filter(Boolean)).toHaveLength(1)
    expect(parts.at(-1)?.finish_reason).not.toBeNull()
  }
  return chunks
}

/** The frames of a stream, after the comment that it begins with. */
export function framesOf(text: string): string[] {
  expect(text.endsWith('\n\n')).toBe(true)
  const [opening, ...frames] = text.split('\n\n').slice(0, -1)
  expect(opening).toBe(': keep-alive')
  return frames
}

export function dataOf(frame: string | undefined): unknown {
  expect(frame).toMatch(/^data: \{.*\}$/)
  return JSON.parse(frame?.slice('data: '.length) ?? '')
}
