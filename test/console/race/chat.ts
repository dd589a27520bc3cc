// The answer is as long as its cap, and the prompt is free: a request costs all of its hold, so no part of it comes back and
// lets an eleventh in.
export const TOKENS = 200
export const PRICE = { input: '0', output: '50' }

/** The model echo says one word more than it was told. */
export const CHAT = {
  model: 'echo',
  max_tokens: TOKENS,
  messages: [{ role: 'user', content: 'Hello '.repeat(TOKENS - 1) }],
}
