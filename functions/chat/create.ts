import { Readable } from 'node:stream'
import middy from '@middy/core'
import { executionModeStreamifyResponse } from '@middy/core/StreamifyResponse'
import { readVariable } from '../../layers/gateway/config.ts'
import { secretName } from '../../layers/gateway/contract.ts'
import { requestContractOf } from '../../layers/gateway/contracts/contracts.ts'
import { answerCount } from '../../layers/gateway/flow/answering/answer-count.ts'
import { answerEmbedding } from '../../layers/gateway/flow/answering/answer-embedding.ts'
import { answerStream } from '../../layers/gateway/flow/answering/answer-stream.ts'
import { answerWhole } from '../../layers/gateway/flow/answering/answer-whole.ts'
import type { ChatDeps } from '../../layers/gateway/flow/answering/chat-deps.ts'
import { tokenQueue } from '../../layers/gateway/flow/billing/token-queue.ts'
import { type AnswerVault, answerVault, replayAnswer } from '../../layers/gateway/flow/idempotency/answer-vault.ts'
import { RouteHealth } from '../../layers/gateway/flow/routing/route-health.ts'
import { admit } from '../../layers/gateway/middleware/admit.ts'
import type { Gates, GatewayAnswer, GatewayContext, GatewayEvent } from '../../layers/gateway/middleware/gate.ts'
import { idempotency } from '../../layers/gateway/middleware/idempotency.ts'
import { readAndPrice } from '../../layers/gateway/middleware/read-and-price.ts'
import { refuse } from '../../layers/gateway/middleware/refuse.ts'
import { readSecret } from '../../layers/gateway/providers/api-keys/read-secret.ts'
import { openProvider } from '../../layers/gateway/providers/open-provider.ts'
import type { Admission, AdmittedChat, Idempotency, PricedChat } from '../../layers/gateway/request.ts'
import { takeLoss } from '../../layers/gateway/store/admission/take-loss.ts'
import { claimAnswer, dropClaim, findAnswer, keepAnswer } from '../../layers/gateway/store/answers.ts'
import { readKey } from '../../layers/gateway/store/keys/read-key.ts'
import { admissionBy, entrance, requestEnd } from '../gates.ts'
import type { Instance } from '../instance.ts'

const EVENT_STREAM = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  'Cache-Control': 'no-cache, no-transform',
  'X-Accel-Buffering': 'no',
}

const JSON_BODY = { 'Content-Type': 'application/json' }

/** Tokens are counted by a function, by a thread or by a test; the upstreams are the real ones unless others are given. */
type Given = Pick<ChatDeps, 'countTokens'> &
  Partial<Pick<ChatDeps, 'openProvider'>> & {
    /** Called before each request. */
    readonly limitHeap?: () => void
  }

export function createChat(instance: Instance, given: Given) {
  const { tables, config, clock, log } = instance
  const vault = answerVault({ keepAnswer: keepAnswer(tables), dropClaim: dropClaim(tables), log })
  const queue = tokenQueue(given.countTokens)
  const deps: ChatDeps = {
    ...instance,
    vault,
    headerPrefix: config.headerPrefix,
    health: new RouteHealth(Math.random),
    takeLoss: takeLoss(tables),
    openProvider: openProvider({
      env: (name) => readVariable(name),
      secret: readSecret({
        fullName: (name) => secretName(config.stage ?? 'local', name),
        clock,
        problem: (what, error) => log.problem(what, error, '-'),
      }),
    }),
    ...given,
    countTokens: queue.forBills,
    countLater: queue.forCounts,
  }
  return middy<GatewayEvent, GatewayAnswer, Error, GatewayContext>({
    executionMode: executionModeStreamifyResponse,
    timeoutEarlyInMillis: 0,
    ...(given.limitHeap && { requestStart: given.limitHeap }),
    requestEnd: requestEnd(instance),
  })
    .use([...chatGates(instance, vault).middlewares])
    .handler(async (_: GatewayEvent, { request }: GatewayContext): Promise<GatewayAnswer> => {
      const chat = request as AdmittedChat
      const headers = chat.priced.chat.stream ? EVENT_STREAM : JSON_BODY
      return { statusCode: 200, headers, body: inOnePiece(await answer(deps, chat)) }
    })
}

function chatGates(instance: Instance, vault: AnswerVault): Gates<AdmittedChat> {
  const { tables, loadCatalog, config, finishHold } = instance
  const retries = {
    claimAnswer: claimAnswer(tables),
    findAnswer: findAnswer(tables),
    readKey: readKey(tables),
    finishHold,
    vault,
  }
  return entrance(instance, 'chat')
    .gate(readAndPrice(loadCatalog, config.headerPrefix))
    .gate(admit<PricedChat>(admissionBy(instance, 'UPDATED_NEW')))
    .gate(idempotency(retries))
    .gate(refuse<PricedChat & Admission & Idempotency>())
}

type Body = GatewayAnswer['body']

function answer(deps: ChatDeps, request: AdmittedChat): Body | Promise<Body> {
  const isStream = request.priced.chat.stream
  if (request.replay)
    return replayAnswer(request.replay, requestContractOf(request.endpoint), isStream, deps.headerPrefix)
  if (isStream) return answerStream(deps, request)
  if (request.endpoint.countsOnly) return answerCount(deps, request)
  return (request.priced.chat.embedding ? answerEmbedding : answerWhole)(deps, request)
}

const MOST_AT_ONCE = 16 * 1024

/** Middy writes a string at once, and a longer one in slices, which could cut a character of two units in half. */
function inOnePiece(body: Body): Body {
  return typeof body === 'string' && body.length > MOST_AT_ONCE ? Readable.from([Buffer.from(body)]) : body
}
