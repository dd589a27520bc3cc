// A file of its own beside chat's code: loaded with the first call for vectors, or for a count of tokens.
export { answerCount } from './answer-count.ts'
export { answerEmbedding } from './answer-embedding.ts'
