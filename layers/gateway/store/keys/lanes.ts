import { type Begun, type Dealt, dealOut } from '../../domain/admission/deal.ts'
import { hasOwnPool, type Key } from '../../domain/keys/key.ts'
import { laneAddress } from '../../domain/keys/lane.ts'
import { isConditionFailed, retryRejected, updateIf } from '../dynamodb/conditional-writes.ts'
import type { Item, Tables, UpdateInput } from '../dynamodb/database.ts'
import { accountItem, keyItem, SWEEP_AT_ONCE, termsItem, toKey } from './key-item.ts'
import { readBooks } from './read-key.ts'

/** Others write the lanes of a key at the same moment, and come first. */
const MOST_ROUNDS = 20

/** Every lane has the terms of the first one, or a condition keeps it from being used: then it is tried again. */
class Overtaken extends Error {}

/**
 * An act changes the first lane. This brings it to the others, and a deal that was begun to its end. Each step can be made
 * by anybody, any number of times: by the act, by the next one, by a request that needs a lane, by the sweep.
 */
export function bringLanes(tables: Tables) {
  const read = readBooks(tables)
  const write = laneWriter(tables)
  return async (keyId: string, nowMs: number): Promise<void> => {
    for (let round = 1; round <= MOST_ROUNDS; round++) {
      try {
        const found = await read(keyId)
        const [first] = found
        if (!first?.lane) return
        const lanes = await bring(first, found)
        if (hasOwnPool(first)) await bringPool(first)
        if (first.lane.dealing !== undefined) await deal(first, first.lane.dealing, lanes, nowMs)
        return
      } catch (error) {
        if (!(error instanceof Overtaken)) throw error
      }
    }
    throw new Error(`The lanes of the key ${keyId} are changed by others again and again.`)
  }

  function bring(first: Key, found: readonly Key[]): Promise<Key[]> {
    const lanes = Array.from({ length: first.lane?.made ?? 1 }, (_, i) => {
      const address = laneAddress(first.id, i)
      const lane = found.find((one) => one.address === address)
      return i === 0 ? first : bringOne(first, lane, address)
    })
    return Promise.all(lanes)
  }

  /** The pool is refused credits with its key, and tells when they are low. */
  async function bringPool({ id, status, notifyBelow, version }: Key): Promise<void> {
    const isLevel = notifyBelow !== undefined
    await updateIf(tables, accountItem(id), {
      ConditionExpression: 'attribute_exists(pk) AND version < :version',
      UpdateExpression: `SET version = :version, #status = :status, sweepAt = :atOnce${isLevel ? ', notifyBelow = :level' : ' REMOVE notifyBelow'}`,
      ExpressionAttributeNames: { '#status': 'status' },
      ExpressionAttributeValues: {
        ':version': version,
        ':status': status === 'revoked' ? status : 'active',
        ':atOnce': SWEEP_AT_ONCE,
        ...(isLevel && { ':level': notifyBelow }),
      },
    })
  }

  /** A lane waits, closed, for its part in a deal that is under way, unless it has it already. */
  async function bringOne(first: Key, lane: Key | undefined, address: string): Promise<Key> {
    if (lane && lane.version >= first.version) return lane
    const { deal, dealing } = first.lane as NonNullable<Key['lane']>
    const isWaiting = dealing !== undefined && lane?.lane?.deal !== deal
    // An earlier use of the old secret, which this lane knows of.
    const isSameSecret = lane?.previous?.hash === first.previous?.hash
    const { previousUsedAtMs: _, notifyBelow: __, ...terms } = termsItem(first)
    const set = {
      ...terms,
      ...(!isSameSecret && { previousUsedAtMs: undefined }),
      ...(isWaiting && { deal, isClosed: true }),
      ...(!lane && { ...NO_CREDITS, bucketFullAtUs: 0, dealt: {} }),
    }
    const isAsRead = lane ? 'version = :known' : 'attribute_not_exists(pk)'
    return write(address, set, isAsRead, lane && { ':known': lane.version })
  }

  async function deal(first: Key, dealing: string, lanes: readonly Key[], nowMs: number): Promise<void> {
    const begun = JSON.parse(dealing, readNano) as Begun | readonly Dealt[]
    const plan = Array.isArray(begun) ? begun : dealOut(lanes, begun as Begun, nowMs)
    const text = JSON.stringify(plan, nanoText)
    const { deal } = first.lane as NonNullable<Key['lane']>
    // It is dealt out alike by all who go on with it.
    if (text !== dealing)
      await write(first.address, { dealing: text }, 'deal = :deal AND dealing = :before', {
        ':deal': deal,
        ':before': dealing,
      })
    const [isWaiting, known] = ['deal = :deal AND isClosed = :closed', { ':deal': deal, ':closed': true }]
    const [own, ...others] = plan.map(({ parts, fullAtUs }) => {
      const bucket = fullAtUs !== undefined && { bucketFullAtUs: fullAtUs }
      return { dealt: parts, isClosed: undefined, ...bucket }
    })
    await Promise.all(others.map((part, i) => ifFirst(write(laneAddress(first.id, i + 1), part, isWaiting, known))))
    const last = { ...known, ':dealing': text }
    await ifFirst(write(first.id, { ...own, dealing: undefined }, `${isWaiting} AND dealing = :dealing`, last))
  }
}

/** False if others have made this write, and requests may have changed the lane since. */
async function ifFirst(write: Promise<Key>): Promise<boolean> {
  try {
    await write
    return true
  } catch (error) {
    if (error instanceof Overtaken) return false
    throw error
  }
}

/** Sets these attributes of a lane, or removes those that are undefined, if its condition holds. The lane as it is then. */
function laneWriter({ database, keys: TableName }: Tables) {
  return async (address: string, set: Item, condition: string, known: Item = {}): Promise<Key> => {
    const entries = Object.entries(set).map(([name, value], i) => ({ name, value, at: `#n${i}`, to: `:v${i}` }))
    const kept = entries.filter(({ value }) => value !== undefined)
    const gone = entries.filter(({ value }) => value === undefined)
    const update: UpdateInput = {
      TableName,
      Key: keyItem(address),
      ConditionExpression: condition,
      UpdateExpression: `SET ${kept.map(({ at, to }) => `${at} = ${to}`).join(', ')}${gone.length > 0 ? ` REMOVE ${gone.map(({ at }) => at).join(', ')}` : ''}`,
      ExpressionAttributeNames: Object.fromEntries(entries.map(({ at, name }) => [at, name])),
      ExpressionAttributeValues: { ...Object.fromEntries(kept.map(({ to, value }) => [to, value])), ...known },
      ReturnValues: 'ALL_NEW',
    }
    try {
      const { Attributes } = await retryRejected(() => database.update(update))
      return toKey(Attributes as Item)
    } catch (error) {
      if (isConditionFailed(error)) throw new Overtaken()
      throw error
    }
  }
}

const NO_CREDITS = { granted: 0, available: 0, spent: 0, drawn: 0, heldEver: 0, spentAtDraw: 0 }

/** The change of a first lane that begins a deal. It takes no requests from then on until it has its part. */
export function beginDeal({ version, lane }: Key, begun: Begun, made = lane?.made ?? 1): Item {
  return {
    deal: version + 1,
    isClosed: true,
    dealing: JSON.stringify(begun, nanoText),
    dealt: lane?.dealt ?? {},
    lanesMade: made,
    // If this is cut off, the sweep goes on with it.
    sweepAt: SWEEP_AT_ONCE,
  }
}

/** A request for which no lane has enough begins a deal. False if others came first. */
export function startDeal(tables: Tables) {
  const write = laneWriter(tables)
  return (first: Key, begun: Begun): Promise<boolean> => {
    const set = { ...beginDeal(first, begun), version: first.version + 1 }
    return ifFirst(write(first.id, set, 'version = :known', { ':known': first.version }))
  }
}

const nanoText = (_: string, value: unknown) => (typeof value === 'bigint' ? { nano: String(value) } : value)

function readNano(_: string, value: { readonly nano?: string } | null): unknown {
  return value?.nano === undefined ? value : BigInt(value.nano)
}
