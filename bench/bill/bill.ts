// List prices of us-east-1 in dollars, as of 2025, without free tiers, discounts and taxes. AWS changes them: each
// names the page of aws.amazon.com that has it, to be checked before anybody relies on it.

const price = (dollars: number, per: string, source: string) => ({ dollars, per, source })
const ON_DEMAND = 'DynamoDB Pricing, on-demand:'
const US_AND_EUROPE = 'CloudFront Pricing: United States and Europe, first 10 TB a month'
const TO_PROVIDER =
  'CloudFront Pricing: $0.020 to the origin; EC2 On-Demand Pricing, data transfer: $0.09 out to the internet'

export const PRICES = {
  lambdaTime: price(0.0000133334, 'GB-second', 'Lambda Pricing: Arm, the first 7.5 billion GB-seconds a month'),
  lambdaRequest: price(0.2, 'million requests', 'Lambda Pricing'),
  dynamodbWrite: price(0.625, 'million write request units', `${ON_DEMAND} standard table class, since November 2024`),
  dynamodbStorage: price(0.25, 'GB-month', `${ON_DEMAND} storage`),
  dynamodbBackup: price(0.2, 'GB-month', `${ON_DEMAND} point-in-time recovery`),
  cloudfrontRequest: price(1, 'million HTTPS requests', 'CloudFront Pricing: United States, $0.0100 for 10,000'),
  cloudfrontFunction: price(0.1, 'million calls', 'CloudFront Pricing: CloudFront Functions'),
  cloudfrontOut: price(0.085, 'GB to the internet', US_AND_EUROPE),
  promptOut: price(0.11, 'GB to the provider', TO_PROVIDER),
  firewallRequest: price(0.6, 'million requests', 'WAF Pricing: beside $5 and $1 a rule a month'),
  logs: price(0.5, 'GB taken in', 'CloudWatch Pricing: logs of Lambda, standard class, first 10 TB a month'),
}

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

export type BillLine = ReturnType<typeof line>

/** The storage of every item beside its own bytes. */
const STORAGE_OVERHEAD_BYTES = 100
const GB = 2 ** 30
const MILLION = 1_000_000

/** Admission and settlement. */
const KEY_WRITES = 2
/** The row itself, and its copy in the index by key, which has every attribute. */
const ROW_WRITES = 2
const PROMPT_KB = [4, 40]

/** The bill for a million chats. A warm instance reads nothing: the write that admits also proves the cached key. */
export function billOf(chat: Chat) {
  const { seconds, memoryMb } = chat
  const keyUnits = KEY_WRITES * writeUnits(chat.keyItemBytes)
  const rowUnits = ROW_WRITES * writeUnits(chat.rowBytes)
  const lines = [
    line('Lambda, time', `${seconds} s × ${memoryMb} MB`, PRICES.lambdaTime, MILLION * seconds * (memoryMb / 1024)),
    line('Lambda, requests', '1', PRICES.lambdaRequest, 1),
    line('DynamoDB, the key', `${keyUnits} write units: admission and settlement`, PRICES.dynamodbWrite, keyUnits),
    line('DynamoDB, the row', `${rowUnits} write units: the row and its index`, PRICES.dynamodbWrite, rowUnits),
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
    /** Not for every stage and chat: the firewall, longer prompts, and rows for as long as they are kept. */
    beside: [
      line('firewall, requests', '1', PRICES.firewallRequest, 1),
      // A prompt goes out of CloudFront to the function, and out of the function to the provider.
      ...PROMPT_KB.map((kb) => line(`prompt of ${kb} KB`, bytes(kb * 1024), PRICES.promptOut, gigabytes(kb * 1024))),
      line('rows kept, a month', bytes(storedBytes), PRICES.dynamodbStorage, gigabytes(storedBytes)),
      line('their backup, a month', bytes(backedUpBytes), PRICES.dynamodbBackup, gigabytes(backedUpBytes)),
    ],
  }
}

/** One for each KB or part of one. An update is charged for the whole item, before or after, whichever is larger. */
export function writeUnits(bytes: number): number {
  return Math.ceil(bytes / 1_024)
}

function line(what: string, model: string, of: ReturnType<typeof price>, quantity: number) {
  return { what, model, price: of, dollars: of.dollars * quantity }
}

function gigabytes(bytesOfOne: number): number {
  return (MILLION * bytesOfOne) / GB
}

function bytes(count: number): string {
  return `${count.toLocaleString('en-US')} bytes`
}
