import type { ChatRequest } from '../../domain/chat/chat.ts'
import type { Prompt } from '../../domain/chat/prompt.ts'

export const MOST_ECHOED_CHARS = 1024 * 1024

export function echoedChars(prompts: readonly Prompt[], n: number): number {
  return prompts.reduce((sum, { length }) => sum + length, 0) * n
}

/** The text with which a choice begins. The gateway itself repeats the prompt, so that it is not billed as an answer. */
export function echoOf({ original, choices }: ChatRequest, index: number): string {
  const { prompt, echo } = original?.body ?? {}
  if (echo !== true) return ''
  const prompts: readonly unknown[] = Array.isArray(prompt) ? prompt : [prompt]
  const text = prompts[Math.floor(index / (choices / prompts.length))]
  return typeof text === 'string' ? text : ''
}
