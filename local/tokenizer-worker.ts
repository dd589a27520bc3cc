import { parentPort } from 'node:worker_threads'
import { answerQuestion } from '../layers/tokenizer/answer-question.ts'
import type { Answer, Question } from './tokenizer-thread.ts'

// A thread of its own: loading the tokenizer takes a second, in which the gateway answers others.
parentPort?.on('message', ({ id, texts }: Question) => {
  parentPort?.postMessage({ id, ...answerQuestion({ texts }) } satisfies Answer)
})
