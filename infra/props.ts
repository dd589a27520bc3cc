/** The stages that there are, each with settings of its own. */
export type StageName = 'dev' | 'prod'

/** A zone of Route 53. */
export interface Zone {
  /** Such as `Z0123456789ABCDEFGHIJ`. */
  readonly id: string
  /** Such as `example.com`. */
  readonly name: string
}

/** A domain, with a certificate in us-east-1 or the zone to make one in. */
export interface Domain {
  /** Such as `ai.example.com`. */
  readonly name: string
  /** Of a certificate in us-east-1, from which CloudFront takes it. */
  readonly certificateArn?: string | undefined
  /** The zone of the domain: its records are then made, and its certificate if none is given. */
  readonly hostedZone?: Zone | undefined
}

/** The operator's settings. docs/deploy.md has their defaults. */
export interface Settings {
  /** Gets alarms by e-mail, beside the topics. */
  readonly alarmEmail?: string | undefined
  /** Gets the alarms that can wait for a working day, in place of the address above. */
  readonly ticketEmail?: string | undefined
  /** The address of docs/operate.md as your people read it, which each alarm names. */
  readonly runbookUrl?: string | undefined
  /** An alarm goes off if one of twenty answers begins later. */
  readonly slowFirstTokenMs: number
  /** An alarm goes off if one of twenty requests takes longer. */
  readonly slowRequestMs: number
  /** The spending of the account in a month from which on `alarmEmail` is told. */
  readonly monthlyBudgetUsd?: number | undefined
  /** Without it there is no CloudFront distribution, and two addresses in place of one. */
  readonly edge: boolean
  /** True if CloudFront accepts requests over IPv6. */
  readonly ipv6: boolean
  /** The base URL's own domain, which stays when the distribution is made anew. */
  readonly domain?: Domain | undefined
  /** A web firewall for CloudFront: none, or AWS's common rules that count, or block. */
  readonly waf: 'off' | 'count' | 'block'
  /** The most requests of one address in five minutes; the firewall refuses more. */
  readonly wafRequestsPerAddress: number
  /** True if CloudFront logs its requests into a bucket. */
  readonly edgeLogs: boolean
  /** True if CloudTrail records accesses to the table of keys, other than by the functions. */
  readonly keysTrail: boolean
  /** True if the admin API also accepts admin keys, from programs outside AWS. */
  readonly adminKeys: boolean
  /** True if a function calls the gateway every five minutes as a client does, with a key of its own. */
  readonly probe: boolean
  /** True if the gateway has a page at /usage, for the owners of keys. */
  readonly usagePage: boolean
  /** True if there is a bus of EventBridge, on which notices of keys are put. */
  readonly notices: boolean
  /** Tables of an earlier stack that the next deployment adopts; they have these names from then on. */
  readonly tableNames?:
    | { readonly keys: string; readonly usage: string; readonly answers?: string | undefined }
    | undefined
  /** The bucket of an earlier stack's exported days that the next deployment adopts; it has this name from then on. */
  readonly exportBucket?: string | undefined
  /** Gives new code a tenth of the calls for half an hour first, or all of them at once. */
  readonly rollout: 'canary' | 'at-once'
  /** Raised by one, it makes the next deployment rotate the secret between CloudFront and the functions. */
  readonly originSecretNumber: number
  /** A stream's cost is its time × this, so small is cheap; the worst requests that callers can send take 160 MB in all. */
  readonly chatMemoryMb: number
  /** Of each function but chat's and the tokenizer's. */
  readonly apiMemoryMb: number
  /** A whole core: with less of one, the tokenizer would load longer and cost the same. */
  readonly tokenizerMemoryMb: number
  /** Days that CloudWatch offers: 14, 30, 90, 365 and others. */
  readonly logRetentionDays: number
  /**
   * The executions that Lambda reserves for chat, which is also the most that it may have: so one key's streams cannot
   * crowd out other functions. Lambda keeps 100 of the account's quota unreserved. A new account may have a quota of
   * 10, of which nothing can be reserved; null reserves nothing.
   */
  readonly chatConcurrency: number | null
  /** The same for each function of the HTTP API. */
  readonly apiConcurrency: number | null
  /** The same for the sweep, which ends requests that died. */
  readonly sweepConcurrency: number | null
  /** The same for the closing of days. */
  readonly closeConcurrency: number | null
  /** The same for the admin API. */
  readonly adminConcurrency: number | null
  /** True if chat compresses its answers for clients that accept gzip: a stream is a tenth of its length. */
  readonly compress: boolean
  /** True if usage rows have the users and tags that callers name. */
  readonly attribution: boolean
  /** The credits that a key's requests may cost beyond their charges on a UTC day, unless the key has a bound of its own. */
  readonly dailyLoss: string
  /** True if the rows of closed days are written to a bucket. */
  readonly exportUsage: boolean
  /** The days after which a row is deleted, once its day is exported; null keeps rows for good. */
  readonly keepRowsDays: number | null
  /** The limit of the HTTP API, for all keys together; a key has its own limits. */
  readonly apiRequestsPerSecond: number
}

/** The settings of a gateway, each with the default of its stage, and whence it has its models. */
export interface WaybillProps extends Partial<Settings> {
  /** The defaults of the settings: `dev` can be lost, `prod` is protected and keeps its data. */
  readonly stage: StageName
  /**
   * The name of this gateway in metrics, and of its secrets: `waybill/NAME/…`. Two gateways in one region of an account
   * need two names. Default: the stage.
   */
  readonly name?: string | undefined
  /** The file with the models that the first deployment puts in force. Default: `catalog.json`. */
  readonly catalog?: string | undefined
}
