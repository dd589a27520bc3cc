import type { ChatBody, ChatRequest } from '../../domain/chat.ts'
import { GatewayError } from '../../domain/gateway-error.ts'
import type { Prompt } from '../../domain/prompt.ts'
import { badField } from '../../wire/bad-field.ts'
import { refuseChatWords } from '../../wire/chat-words.ts'
import {
  arrayOf,
  boolean,
  describe,
  either,
  integer,
  isObject,
  number,
  object,
  type Rule,
  string,
} from '../../wire/field-rules.ts'
import { promptMedia } from '../../wire/prompt-media.ts'
import type { JsonBody } from '../../wire/read-body.ts'
import { readPrompts } from '../../wire/read-prompts.ts'
import { echoedChars, MOST_ECHOED_CHARS } from './echo.ts'

const OPTIONAL: Readonly<Record<string, Rule>> = {
  best_of: integer(1),
  echo: boolean,
  frequency_penalty: number(-2, 2),
  logit_bias: object,
  logprobs: integer(0, 5),
  max_tokens: integer(1),
  n: integer(1, 128),
  presence_penalty: number(-2, 2),
  seed: integer(Number.MIN_SAFE_INTEGER),
  stop: either(string, arrayOf(string)),
  stream: boolean,
  stream_options: object,
  suffix: string,
  temperature: number(0, 2),
  top_p: number(0, 1),
  user: string,
}

const CHAT_WORDS = ['messages', 'max_completion_tokens', 'tools', 'tool_choice', 'functions', 'function_call']
/** Of a caller that names none: OpenAI's. */
const DEFAULT_CAP = 16
/** As many as chat gives. */
const MOST_CHOICES = 128

export function readCompletionRequest({ value, bytes }: JsonBody): ChatRequest {
  if (!isObject(value)) {
    throw new GatewayError('invalid_request', `The request body must be a JSON object, but ${describe(value)}.`)
  }
  // A field that is null counts as absent.
  const body: ChatBody = Object.fromEntries(Object.entries(value).filter(([, field]) => field !== null))
  const { model, n = 1, max_tokens: cap = DEFAULT_CAP } = body
  if (typeof model !== 'string' || model === '') {
    throw badField('model', 'the id of a model; GET /v1/models lists them', model)
  }
  for (const [name, rule] of Object.entries(OPTIONAL)) {
    const wanted = body[name] === undefined ? undefined : rule(body[name])
    if (wanted) throw badField(name, wanted, body[name])
  }
  refuseChatWords(body, CHAT_WORDS)
  const prompts = readPrompts('prompt', body.prompt, MOST_CHOICES)
  const stream = body.stream === true
  requireBillable(body, prompts)
  return {
    model,
    stream,
    includeUsage: readIncludeUsage(body.stream_options, stream),
    choices: prompts.length * (n as number),
    namedCap: cap as number,
    capFields: ['max_tokens'],
    messageCount: prompts.length,
    toolCount: 0,
    media: promptMedia([]),
    asksCacheWrite: false,
    bytes,
    body: toChat(body, prompts),
    original: { contract: 'completions', body },
  }
}

/** Refuses what would be billed beyond the choices that the caller gets, or take more memory than they do. */
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
  const chars = echoedChars(prompts, n as number)
  if (chars > MOST_ECHOED_CHARS) {
    throw wrong('echo', `'echo' would repeat ${chars} characters; at most ${MOST_ECHOED_CHARS} are repeated.`)
  }
}

/**
 * The same request in chat's words: the prompt is what a user says. What chat has no words for keeps its own, so that a
 * dialect that lacks them says so.
 */
function toChat(body: ChatBody, prompts: readonly Prompt[]): ChatBody {
  const { prompt, n = 1, logprobs, best_of: _, echo: __, max_tokens: cap = DEFAULT_CAP, ...rest } = body
  const isPlain = prompts.length === 1 && typeof prompts[0] === 'string'
  return {
    ...rest,
    ...(!isPlain && { prompt }),
    messages: prompts.map((each) => ({ role: 'user', content: typeof each === 'string' ? each : asWords(each) })),
    max_tokens: cap,
    n,
    ...(typeof logprobs === 'number' && { logprobs: true, top_logprobs: logprobs }),
  }
}

/** As many words of one token as there are ids, for whoever counts them. No model reads this. */
function asWords(ids: readonly number[]): string {
  return ' a'.repeat(ids.length)
}

function readIncludeUsage(options: unknown, stream: boolean): boolean {
  if (!isObject(options)) return false
  if (!stream) throw wrong('stream_options', "'stream_options' is only allowed when 'stream' is true.")
  const flag = options.include_usage ?? false
  if (typeof flag !== 'boolean') throw badField('stream_options.include_usage', 'true or false', flag)
  return flag
}

function wrong(param: string, message: string): GatewayError {
  return new GatewayError('invalid_request', message, { param })
}
