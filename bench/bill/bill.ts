import { STORAGE_OVERHEAD_BYTES, writeUnits } from './item-size.ts'
import { PRICES, type Price } from './prices.ts'

/** The sizes of one chat that the bill depends on. */
export type Chat = {
  readonly seconds: number
  readonly memoryMb: number
  /** The size of the key's item, with its open requests. */
  readonly keyItemBytes: number
  readonly rowBytes: number
  /** All bytes that the client receives, head and body. */
  readonly answerBytes: number
  readonly logBytes: number
}

export type BillLine = {
  readonly what: string
  readonly model: string
  readonly price: Price
  readonly dollars: number
}

export type Bill = {
  readonly lines: readonly BillLine[]
  readonly total: number
  /** Not for every stage and chat: the firewall, longer prompts, and rows for as long as they are kept. */
  readonly beside: readonly BillLine[]
}

const GB = 2 ** 30
const MILLION = 1_000_000

/** Admission and settlement. */
const KEY_WRITES = 2
/** The row itself, and its copy in the index by key, which has every attribute. */
const ROW_WRITES = 2
const PROMPT_KB = [4, 40]

/** The bill for a million chats. A warm instance reads nothing: the write that admits also proves the cached key. */
export function billOf(chat: Chat): Bill {
  const { seconds, memoryMb } = chat
  const keyUnits = KEY_WRITES * writeUnits(chat.keyItemBytes)
  const rowUnits = ROW_WRITES * writeUnits(chat.rowBytes)
  const lines = [
    line('Lambda, time', `${seconds} s × ${memoryMb} MB`, PRICES.lambdaTime, MILLION * seconds * (memoryMb / 1024)),
    line('Lambda, requests', '1', PRICES.lambdaRequest, 1),
    line('DynamoDB, the key', `${units(keyUnits)}: admission and settlement`, PRICES.dynamodbWrite, keyUnits),
    line('DynamoDB, the row', `${units(rowUnits)}: the row and its index`, PRICES.dynamodbWrite, rowUnits),
    line('CloudFront, requests', '1', PRICES.cloudfrontRequest, 1),
    line('CloudFront, function', '1 call', PRICES.cloudfrontFunction, 1),
    line('CloudFront, out', bytes(chat.answerBytes), PRICES.cloudfrontOut, gigabytes(chat.answerBytes)),
    line('logs', bytes(chat.logBytes), PRICES.logs, gigabytes(chat.logBytes)),
  ]
  const storedBytes = ROW_WRITES * (chat.rowBytes + STORAGE_OVERHEAD_BYTES)
  const backedUpBytes = chat.rowBytes + STORAGE_OVERHEAD_BYTES
  return {
    lines,
    total: lines.reduce((sum, { dollars }) => sum + dollars, 0),
    beside: [
      line('firewall, requests', '1', PRICES.firewallRequest, 1),
      ...PROMPT_KB.map((kb) => prompt(kb * 1024)),
      line('rows kept, a month', bytes(storedBytes), PRICES.dynamodbStorage, gigabytes(storedBytes)),
      line('their backup, a month', bytes(backedUpBytes), PRICES.dynamodbBackup, gigabytes(backedUpBytes)),
    ],
  }
}

/** A prompt goes out of CloudFront to the function, and out of the function to the provider. */
function prompt(size: number): BillLine {
  return line(`prompt of ${size / 1024} KB`, bytes(size), PRICES.promptOut, gigabytes(size))
}

function line(what: string, model: string, price: Price, quantity: number): BillLine {
  return { what, model, price, dollars: price.dollars * quantity }
}

/** The gigabytes of a million. */
function gigabytes(bytesOfOne: number): number {
  return (MILLION * bytesOfOne) / GB
}

function bytes(count: number): string {
  return `${count.toLocaleString('en-US')} bytes`
}

function units(count: number): string {
  return `${count} write units`
}
