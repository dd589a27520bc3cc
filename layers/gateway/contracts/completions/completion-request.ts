import { badRequest, type GatewayError } from '../../domain/basics/gateway-error.ts'
import type { ChatBody, ChatRequest } from '../../domain/chat/chat.ts'
import type { Prompt } from '../../domain/chat/embedding.ts'
import { flag, integer, knownRows, text } from '../../wire/basics/shape.ts'
import { MODEL, SAMPLING_FIELDS, STREAM_OPTIONS } from '../../wire/chat/chat-fields.ts'
import { promptShape, readPrompts } from '../../wire/chat/read-prompts.ts'
import { type JsonBody, readFields, readIncludeUsage, refuseChatWords } from '../../wire/requests/read-body.ts'

/** The most that chat allows. */
const MOST_CHOICES = 128
const MOST_ECHOED_CHARS = 1024 * 1024

export const COMPLETION_FIELDS = knownRows({
  ...SAMPLING_FIELDS,
  model: MODEL,
  prompt: promptShape(MOST_CHOICES),
  suffix: text,
  best_of: integer(1),
  echo: flag,
  logprobs: integer(0, 5),
  max_tokens: integer(1),
  stream: flag,
  stream_options: STREAM_OPTIONS,
})

const CHAT_WORDS = ['messages', 'max_completion_tokens', 'tools', 'tool_choice', 'functions', 'function_call']
/** OpenAI's default. */
const DEFAULT_CAP = 16

export function readCompletionRequest(request: JsonBody): ChatRequest {
  const { body, ...read } = readFields(request, COMPLETION_FIELDS)
  const { n = 1, max_tokens: cap = DEFAULT_CAP } = body
  refuseChatWords(read.raw, CHAT_WORDS)
  const prompts = readPrompts('prompt', body.prompt, MOST_CHOICES, read.raw)
  requireBillable(body, prompts)
  return {
    ...read,
    includeUsage: readIncludeUsage(body.stream_options, read.stream),
    choices: prompts.length * (n as number),
    namedCap: cap as number,
    messageCount: prompts.length,
    asksCacheWrite: false,
    body: toChat(body, prompts),
    original: { contract: 'completions', body },
  }
}

/** Refuses a request that would be billed beyond the choices that the caller gets, or would take more memory than they do. */
function requireBillable({ n = 1, best_of: drawn, echo, logprobs }: ChatBody, prompts: readonly Prompt[]): void {
  const choices = prompts.length * (n as number)
  if (choices > MOST_CHOICES) {
    throw wrong('n', `'n' asks for ${choices} choices in all, ${n} for each prompt; at most ${MOST_CHOICES} are given.`)
  }
  if (drawn !== undefined && drawn !== n) {
    throw wrong('best_of', `'best_of' is ${drawn}, but must be ${n}, as 'n' is: choices that nobody gets are billed.`)
  }
  if (echo !== true) return
  if (logprobs !== undefined) throw wrong('echo', "'echo' must be left out where 'logprobs' is asked for.")
  if (prompts.some((prompt) => typeof prompt !== 'string')) {
    throw wrong('echo', "'echo' must be left out where 'prompt' has token ids: it repeats texts only.")
  }
  const chars = prompts.reduce((sum, { length }) => sum + length, 0) * (n as number)
  if (chars > MOST_ECHOED_CHARS) {
    throw wrong('echo', `'echo' would repeat ${chars} characters; at most ${MOST_ECHOED_CHARS} are repeated.`)
  }
}

/** Fields that chat does not have keep their names, so that a dialect without support for them refuses them. */
function toChat(body: ChatBody, prompts: readonly Prompt[]): ChatBody {
  const { prompt, n = 1, logprobs, best_of: _, echo: __, max_tokens: cap = DEFAULT_CAP, ...rest } = body
  const isPlain = prompts.length === 1 && typeof prompts[0] === 'string'
  return {
    ...rest,
    ...(!isPlain && { prompt }),
    // Ids become as many words of one token, for counting. No model reads this text.
    messages: prompts.map((each) => ({
      role: 'user',
      content: typeof each === 'string' ? each : ' a'.repeat(each.length),
    })),
    max_tokens: cap,
    n,
    ...(typeof logprobs === 'number' && { logprobs: true, top_logprobs: logprobs }),
  }
}

function wrong(param: string, message: string): GatewayError {
  return badRequest('invalid_value', message, param)
}
