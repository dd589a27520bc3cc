import type * as aws from '@aws-sdk/client-bedrock-runtime'
import type { BedrockEntry } from '../../domain/routing/catalog.ts'
import { UpstreamFailure } from '../../domain/routing/upstream-failure.ts'
import { customTools } from '../conversation/read-conversation.ts'
import { limitRequest } from '../limit-request.ts'
import type { Provider } from '../provider.ts'
import { ConverseEvents, readConverse } from './bedrock-answer.ts'
import { embedAtBedrock, PartlyEmbedded } from './bedrock-embeddings.ts'
import { bedrockFailure, type Progress } from './bedrock-failure.ts'
import { toConverse } from './bedrock-request.ts'

/** Amazon Bedrock's Converse, and InvokeModel for embeddings, with the function's own IAM role. */
export function bedrockProvider(id: string, entry: BedrockEntry): Provider {
  return {
    id,
    async *chat(call) {
      const input = limitRequest(toConverse(call), call)
      // The SDK's own iterator cannot be ended early; this ends the call under it.
      const hangUp = new AbortController()
      const signal = AbortSignal.any([call.signal, hangUp.signal])
      let progress: Progress = 'none'
      try {
        if (call.asksWhole) {
          const whole = await orAborted(converse(entry.region, input, signal), signal)
          call.noteAnswered?.()
          yield readConverse(whole, customTools(call.chat.body))
          return
        }
        const events = await orAborted(converseStream(entry.region, input, signal), signal)
        call.noteAnswered?.()
        progress = 'begun'
        const answer = new ConverseEvents(customTools(call.chat.body))
        for await (const event of eachWithin(events, call.idleTimeoutMs, () => progress === 'spoken', hangUp, signal)) {
          const parts = answer.read(event)
          if (parts.length > 0) progress = 'spoken'
          yield parts
          if (answer.isWhole) break
        }
        answer.end()
      } catch (error) {
        throw signal.aborted ? signal.reason : bedrockFailure(error, progress)
      } finally {
        hangUp.abort()
      }
    },
    async embed(call) {
      // When one call of a batch has failed, the others are of no use.
      const hangUp = new AbortController()
      const signal = AbortSignal.any([call.signal, hangUp.signal])
      try {
        return await embedAtBedrock(call, (body) =>
          orAborted(invokeModel(entry.region, call.model, body, signal), signal),
        )
      } catch (error) {
        const cause = error instanceof PartlyEmbedded ? error.cause : error
        const failure = signal.aborted ? signal.reason : bedrockFailure(cause, 'none')
        throw error instanceof PartlyEmbedded ? failure.withEmbedded(error.embedded) : failure
      } finally {
        hangUp.abort()
      }
    },
  }
}

const sdk = () => import('#bedrock')

async function converse(region: string, input: aws.ConverseStreamCommandInput, abortSignal: AbortSignal) {
  const { ConverseCommand } = await sdk()
  return (await clientIn(region)).send(new ConverseCommand(input), { abortSignal })
}

async function converseStream(region: string, input: aws.ConverseStreamCommandInput, abortSignal: AbortSignal) {
  const { ConverseStreamCommand } = await sdk()
  const { stream } = await (await clientIn(region)).send(new ConverseStreamCommand(input), { abortSignal })
  if (!stream) throw new UpstreamFailure('empty', 'Amazon Bedrock sent no answer.')
  return stream
}

const TOKENS_HEADER = 'x-amzn-bedrock-input-token-count'

async function invokeModel(region: string, modelId: string, body: string, abortSignal: AbortSignal) {
  const { InvokeModelCommand } = await sdk()
  const command = new InvokeModelCommand({ modelId, body, contentType: 'application/json', accept: 'application/json' })
  let inputTokens: number | undefined
  command.middlewareStack.add(
    (next) => async (args) => {
      const result = await next(args)
      const { headers } = result.response as { headers: Record<string, string> }
      if (headers[TOKENS_HEADER]) inputTokens = Number(headers[TOKENS_HEADER])
      return result
    },
    { step: 'deserialize' },
  )
  const { body: answer } = await (await clientIn(region)).send(command, { abortSignal })
  return { text: answer.transformToString(), inputTokens }
}

async function clientIn(region: string): Promise<aws.BedrockRuntimeClient> {
  const { BedrockRuntimeClient } = await sdk()
  const client = CLIENTS.get(region) ?? new BedrockRuntimeClient({ region, ...CLIENT_OPTIONS })
  CLIENTS.set(region, client)
  return client
}

const CLIENTS = new Map<string, aws.BedrockRuntimeClient>()

// The dispatcher has retries and timeouts: another route is better than the same one again. Every call has a connection
// of its own, as is the SDK's default for Bedrock: a kept one may be dead when Lambda thaws.
const LONGEST_CALL_MS = 15 * 60_000
const CLIENT_OPTIONS = {
  maxAttempts: 1,
  requestHandler: { disableConcurrentStreams: true, sessionTimeout: LONGEST_CALL_MS },
}

/** The timer runs only while we wait for the upstream, and only after the first token: before, the model may be reasoning. */
async function* eachWithin(
  events: AsyncIterable<aws.ConverseStreamOutput>,
  idleTimeoutMs: number,
  hasSpoken: () => boolean,
  hangUp: AbortController,
  signal: AbortSignal,
) {
  const iterator = events[Symbol.asyncIterator]()
  const giveUp = () =>
    hangUp.abort(new UpstreamFailure('timeout', `The upstream sent nothing for ${idleTimeoutMs} ms.`))
  for (;;) {
    const timer = hasSpoken() ? setTimeout(giveUp, idleTimeoutMs) : undefined
    const next = await orAborted(iterator.next(), signal).finally(() => clearTimeout(timer))
    if (next.done) return
    yield next.value
  }
}

/** The SDK sees an abort only while it waits for the upstream, not for credentials or its own code. */
function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}
