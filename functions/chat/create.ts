import { Readable } from 'node:stream'
import middy from '@middy/core'
import { executionModeStreamifyResponse } from '@middy/core/StreamifyResponse'
import { readVariable } from '../../layers/gateway/config.ts'
import { secretName } from '../../layers/gateway/contract.ts'
import { answerAgain } from '../../layers/gateway/flow/answer-again.ts'
import { answerKeeper } from '../../layers/gateway/flow/answer-keeper.ts'
import { answerStream } from '../../layers/gateway/flow/answer-stream.ts'
import { answerWhole } from '../../layers/gateway/flow/answer-whole.ts'
import type { ChatDeps } from '../../layers/gateway/flow/chat-deps.ts'
import type { AssessedWork, Passage } from '../../layers/gateway/flow/passage.ts'
import { RouteHealth } from '../../layers/gateway/flow/route-health.ts'
import { assess, prefetch } from '../../layers/gateway/middleware/assess.ts'
import { claim } from '../../layers/gateway/middleware/claim.ts'
import type { GatewayAnswer, GatewayContext, GatewayEvent } from '../../layers/gateway/middleware/gate.ts'
import { openProvider } from '../../layers/gateway/providers/open-provider.ts'
import { claimAnswer } from '../../layers/gateway/store/claim-answer.ts'
import { dropClaim } from '../../layers/gateway/store/drop-claim.ts'
import { findAnswer } from '../../layers/gateway/store/find-answer.ts'
import { keepAnswer } from '../../layers/gateway/store/keep-answer.ts'
import { readKey } from '../../layers/gateway/store/read-key.ts'
import { readSecret } from '../../layers/gateway/store/read-secret.ts'
import { gates } from '../gates.ts'
import type { Instance } from '../instance.ts'

const EVENT_STREAM = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  'Cache-Control': 'no-cache, no-transform',
  'X-Accel-Buffering': 'no',
}

const JSON_BODY = { 'Content-Type': 'application/json' }

type Given = Partial<Pick<ChatDeps, 'openProvider' | 'loadTokenizer'>>

/** What is given takes the place of the real upstreams and tokenizer. */
export function createChat(instance: Instance, given: Given = {}) {
  const { tables, loadCatalog, config, clock, finishHold, finishDeadHolds, log } = instance
  const keeper = answerKeeper({ keepAnswer: keepAnswer(tables), dropClaim: dropClaim(tables), log })
  const deps: ChatDeps = {
    ...instance,
    keeper,
    headerPrefix: config.headerPrefix,
    health: new RouteHealth(Math.random),
    loadTokenizer: async () => (await import('#tokenizer')).countTokens,
    openProvider: openProvider({
      env: (name) => readVariable(name),
      secret: readSecret({
        fullName: (name) => secretName(config.stage ?? 'local', name),
        clock,
        problem: (what, error) => log.problem(what, error, '-'),
      }),
    }),
    ...given,
  }
  return middy<GatewayEvent, GatewayAnswer, Error, GatewayContext>({
    executionMode: executionModeStreamifyResponse,
    timeoutEarlyInMillis: 0,
    // The invocation ends when the books are closed, not when the last byte is out.
    requestEnd: async ({ context }) => {
      const { streaming, settling, credential, deadHolds } = (context as GatewayContext).passage
      await (streaming ?? settling)
      if (credential && deadHolds) await finishDeadHolds(credential.key.id, deadHolds)
    },
  })
    .use(
      gates(
        instance,
        'chat',
        { name: 'chat.completions', scope: 'chat.completions' },
        {
          prefetch: prefetch(loadCatalog),
          assess: assess(loadCatalog, deps.headerPrefix),
          claim: claim({
            claimAnswer: claimAnswer(tables),
            findAnswer: findAnswer(tables),
            readKey: readKey(tables),
            finishHold,
            keeper,
          }),
        },
      ),
    )
    .handler(async (_: GatewayEvent, { passage }: GatewayContext): Promise<GatewayAnswer> => {
      const { work } = passage
      if (!work) throw new Error('A chat request was admitted without being assessed.')
      const headers = work.chat.request.stream ? EVENT_STREAM : JSON_BODY
      return { statusCode: 200, headers, body: await answer(deps, passage, work) }
    })
}

async function answer(deps: ChatDeps, passage: Passage, work: AssessedWork): Promise<Readable> {
  if (passage.replay) return answerAgain(passage.replay, work, deps.headerPrefix)
  if (work.chat.request.stream) return answerStream(deps, passage, work)
  // Bytes: Middy writes a long string in slices, and would cut a character of two code units in half.
  return Readable.from([Buffer.from(await answerWhole(deps, passage, work))])
}
