import type { ChatPart } from '../../layers/gateway/domain/chat.ts'
import { UpstreamFailure } from '../../layers/gateway/domain/upstream-failure.ts'
import type { Provider } from '../../layers/gateway/providers/provider.ts'
import { readStoredHold } from '../../layers/gateway/store/keys/stored-hold.ts'
import type { Usage } from './scripted-upstream.ts'

/** One command on its way, and the rest of that way. */
type Command = { readonly constructor: { readonly name: string }; readonly input: object }
export type Send = (command: Command) => Promise<Record<string, unknown>>

/** The gateway with one fault built in, which the simulation must find. */
export type Variant = {
  readonly name: string
  /** What the database is told in place of what it should be. */
  readonly rewrite?: (command: Command) => Command
  /** What a node does in place of sending. */
  readonly wrap?: (send: Send) => Send
  /** How often a write that must be sent once is sent. */
  readonly attempts?: number
  /** What the gateway hears in place of what an upstream says. */
  readonly provider?: (provider: Provider) => Provider
}

type Expressions = {
  ConditionExpression?: string
  UpdateExpression?: string
  Item?: { requestId?: string }
  TransactItems?: readonly object[]
}
const RELEASED = 'DELETE openHolds'

export const VARIANTS: readonly Variant[] = [
  without('the hold is not checked', 'available >= :hold'),
  without('a stale copy of a key is acted on', 'version = :version'),
  without('the bucket is read, then written', 'bucketFullAtUs <= :nowUs', 'bucketFullAtUs <= :lastTakeable'),
  without('the day is read, then written', '(attribute_not_exists(#day) OR #day < :dailyLimit)'),
  without(
    'parallel requests are counted, then admitted',
    '(attribute_not_exists(openHolds) OR size(openHolds) < :room)',
  ),
  without(
    'a secret is not asked whether its grace is over',
    '(currentHash = :hash OR (previousHash = :hash AND previousUntilMs > :nowMs))',
  ),
  without('a cached copy lets an expired key in', '(attribute_not_exists(expiresAtMs) OR expiresAtMs > :nowMs)'),
  { name: 'a change is made without its event', rewrite: leaveEventsOut },
  without('a request settles twice', 'contains(openHolds, :open)'),
  without('a later row takes the place of the first', 'attribute_not_exists(requestId)'),
  without(
    'a key leaves the sweep’s list with requests open',
    'size(holds) = :none AND attribute_not_exists(openHolds)',
  ),
  changing(
    'a day’s requests are set, not counted',
    '#day = if_not_exists(#day, :zero) + :one',
    '#day = :one, zero = :zero',
  ),
  changing('no sweep is told of a hold', 'sweepAt = if_not_exists(sweepAt, :sweepAt)', 'swept = :sweepAt'),
  changing('what is not spent does not come back', 'available = available + :back', 'lost = :back'),
  without('an Idempotency-Key is claimed by two', 'attribute_not_exists(id) OR expiresAt <= :now'),
  { name: 'an admission that is not answered is sent again', attempts: 3 },
  { name: 'the money moves before the row is written', wrap: releaseFirst },
  hearing('counts above the bound are thrown away', (usage) => (usage.prompt_tokens > 200 ? undefined : usage)),
  hearing('thinking that is counted in the total only is free', ({ total_tokens: _, ...usage }) => usage),
  hearing('half of an answer is charged', (usage) => ({
    prompt_tokens: Math.floor(usage.prompt_tokens / 2),
    completion_tokens: Math.floor(usage.completion_tokens / 2),
  })),
  { name: 'a field that a dialect lacks leads to the fallback', provider: failingForWords },
]

/** An upstream's counts are not what the gateway bills. */
function hearing(name: string, hear: (usage: Usage) => Usage | undefined): Variant {
  return {
    name,
    provider: (provider) => ({
      ...provider,
      async *chat(call) {
        for await (const parts of provider.chat(call)) {
          yield parts.flatMap((part): ChatPart[] => {
            if (part.kind !== 'usage') return [part]
            const usage = hear(part.usage as Usage)
            return usage ? [{ kind: 'usage', usage }] : []
          })
        }
      },
      async embed(call) {
        const embedding = await provider.embed?.(call)
        if (!embedding) throw new Error('A scripted upstream embeds.')
        return { ...embedding, usage: embedding.usage && hear({ ...(embedding.usage as Usage), completion_tokens: 0 }) }
      },
    }),
  }
}

function failingForWords(provider: Provider): Provider {
  return {
    ...provider,
    async *chat(call) {
      try {
        yield* provider.chat(call)
      } catch (error) {
        const isForWords = error instanceof UpstreamFailure && error.reason === 'unsupported'
        throw isForWords ? new UpstreamFailure('status', 'It fails.', { status: 500 }) : error
      }
    },
  }
}

/** Some conditions always hold. */
function without(name: string, ...conditions: readonly string[]): Variant {
  return {
    name,
    rewrite: (command) => {
      const { ConditionExpression: condition } = command.input as Expressions
      if (!condition) return command
      const weaker = conditions.reduce(
        // The opposite of a condition is another rule, and stays.
        (text, part) =>
          text.includes(`NOT ${part}`) ? text : text.replace(part, `(${part} OR attribute_exists(${keyOf(command)}))`),
        condition,
      )
      return weaker === condition ? command : rewritten(command, { ConditionExpression: weaker })
    },
  }
}

function keyOf({ input }: Command): string {
  return { usage: 'requestId', answers: 'id' }[(input as { TableName?: string }).TableName ?? ''] ?? 'pk'
}

/** As if events were written on their own, and the process died before. */
function leaveEventsOut(command: Command): Command {
  const { TransactItems } = command.input as { TransactItems?: readonly { Put?: { Item?: { pk?: string } } }[] }
  if (!TransactItems) return command
  const changes = TransactItems.filter(({ Put }) => !Put?.Item?.pk?.startsWith('EVENT#'))
  return rewritten(command, { TransactItems: changes })
}

/** An update does something else. */
function changing(name: string, part: string, other: string): Variant {
  return {
    name,
    rewrite: (command) => {
      const { UpdateExpression: update } = command.input as Expressions
      return update?.includes(part) ? rewritten(command, { UpdateExpression: update.replace(part, other) }) : command
    },
  }
}

function releaseFirst(send: Send): Send {
  const rows = new Map<string, Command>()
  return async (command) => {
    const { Item, UpdateExpression, ExpressionAttributeValues } = command.input as Expressions & {
      ExpressionAttributeValues?: { ':open': Uint8Array }
    }
    if (Item?.requestId) {
      rows.set(Item.requestId, command)
      return {}
    }
    const result = await send(command)
    const released = UpdateExpression?.includes(RELEASED) && ExpressionAttributeValues?.[':open']
    const row = released && rows.get(readStoredHold(released).requestId)
    if (row) await send(row)
    return result
  }
}

function rewritten(command: Command, changes: Expressions): Command {
  return Object.assign(Object.create(Object.getPrototypeOf(command)), command, {
    input: { ...command.input, ...changes },
  })
}
