import { Architecture, Code, LayerVersion, Runtime } from 'aws-cdk-lib/aws-lambda'
import { Construct } from 'constructs'
import { bundleTokenizerLayer } from '#bundles'
import type { CatalogData } from '../../layers/gateway/domain/routing/catalog.ts'
import { FUNCTIONS, type FunctionName } from '../../layers/gateway/endpoints.ts'
import {
  CLOSE_EVERY_MINUTES,
  ENV,
  FUNCTION_TIMEOUT_SECONDS,
  PROBE_EVERY_MINUTES,
  SWEEP_EVERY_MINUTES,
} from '../../layers/gateway/names.ts'
import type { NoticeBus } from '../data/notice-bus.ts'
import type { Tables } from '../data/tables.ts'
import type { UsageExport } from '../data/usage-export.ts'
import { acknowledgedWildcards, invokeBedrock } from '../rights/bedrock.ts'
import {
  acknowledgedSecrets,
  changeAdminKeys,
  changeKeysAndCatalog,
  describeTables,
  invokeFunction,
  readProbeSecret,
  readProviderSecrets,
  readTables,
  switchExpiry,
  tablePermissions,
  takeAdminKeys,
} from '../rights/permissions.ts'
import { settingVariables } from '../setting-table.ts'
import { EDGE_TIMEOUT_SECONDS, GIVES_MEMORY_BACK, reservedBy, type Stage } from '../stages.ts'
import { GatewayFunction, type GatewayFunctionProps } from './gateway-function.ts'
import { startEvery } from './start-every.ts'

type Props = {
  readonly stage: Stage
  readonly tables: Tables
  /** The secrets by which CloudFront proves itself; undefined without CloudFront. */
  readonly originSecrets: string | undefined
  /** The export of closed days; undefined if they stay. */
  readonly usageExport?: UsageExport | undefined
  /** The bus of notices; undefined if nobody is told. */
  readonly noticeBus?: NoticeBus | undefined
  /** The rights to call Bedrock are for its models. */
  readonly catalog: CatalogData
}

type Own = Pick<GatewayFunctionProps, 'may'> & Partial<GatewayFunctionProps>

const API_TIMEOUT_SECONDS = 29
const TOKENIZER_TIMEOUT_SECONDS = 10
const MEMORY_MB = 512
/** A whole core: with less of one, the tokenizer would load longer and cost the same. */
const TOKENIZER_MEMORY_MB = 1_769
/** Two cores, for 20 million rows in a run: one has all but the garbage collector's threads. docs/deploy.md has the figures. */
const CLOSE_MEMORY_MB = 3_538
/** Time for a cold start, an estimate and the settlement, out of CloudFront's timeout. */
const EDGE_RESERVE_MS = 10_000

/** The functions, each with no more rights than it needs. */
export class Functions extends Construct {
  readonly chat: GatewayFunction
  readonly tokenizer: GatewayFunction
  readonly api: GatewayFunction
  readonly sweep: GatewayFunction
  readonly close: GatewayFunction
  readonly admin: GatewayFunction
  readonly probe: GatewayFunction | undefined

  readonly #props: Props
  readonly #may: ReturnType<typeof tablePermissions>
  readonly #environment: Readonly<Record<string, string>>

  constructor(scope: Construct, id: string, props: Props) {
    super(scope, id)
    const { stage, tables, usageExport, noticeBus } = props
    const may = tablePermissions(tables)
    const reserved = reservedBy(stage)
    const environment = environmentOf(props)
    this.#props = props
    this.#may = may
    this.#environment = environment
    this.tokenizer = this.#add('tokenizer', 'Counts tokens with js-tiktoken where no upstream has', {
      environment: {},
      memoryMb: TOKENIZER_MEMORY_MB,
      timeoutSeconds: TOKENIZER_TIMEOUT_SECONDS,
      may: [],
      layers: [this.#tokenizerLayer()],
    })
    this.chat = this.#chat(this.tokenizer)
    this.api = this.#addCalled('api', {
      environment: { [ENV.tokenizerFunction]: this.tokenizer.functionName },
      may: [invokeFunction(this.tokenizer)],
    })
    this.sweep = this.#add('sweep', 'Finishes requests that died, and tells notices', {
      environment: { ...environment, ...(noticeBus && { [ENV.eventBus]: noticeBus.bus.eventBusName }) },
      timeoutSeconds: SWEEP_EVERY_MINUTES * 60 - 10,
      concurrency: reserved.sweep,
      may: [
        ...[may.findKeysToSweep, may.readKeyItems, may.admitAndSettle, may.writeRows],
        ...[may.putEvents, may.deletePointers],
        ...(noticeBus ? [noticeBus.put] : []),
      ],
    })
    startEvery(this, SWEEP_EVERY_MINUTES, this.sweep, { schedule: 'SweepSchedule', role: 'SchedulerRole' })
    this.close = this.#add('close', 'Closes days: adds their usage up, and exports it', {
      environment: { ...environment, ...(usageExport && { [ENV.exportBucket]: usageExport.bucket.bucketName }) },
      memoryMb: CLOSE_MEMORY_MB,
      timeoutSeconds: FUNCTION_TIMEOUT_SECONDS,
      concurrency: reserved.close,
      may: [
        ...[may.listKeys, may.readRowsOfKeys, may.readRowsOfDays, may.keepDays, switchExpiry(tables)],
        ...(usageExport ? [usageExport.write] : []),
      ],
      acknowledged: usageExport ? usageExport.acknowledged : [],
    })
    startEvery(this, CLOSE_EVERY_MINUTES, this.close, { schedule: 'CloseSchedule', role: 'CloseSchedulerRole' })
    this.admin = this.#admin()
    this.probe = stage.probe ? this.#probe() : undefined
  }

  /** A function with what most of them have, and what it has in its place. */
  #add(name: string, description: string, own: Own): GatewayFunction {
    const { stage } = this.#props
    return new GatewayFunction(this, `${name.slice(0, 1).toUpperCase()}${name.slice(1)}`, {
      ...{ name, description, stage, environment: this.#environment },
      ...{ memoryMb: MEMORY_MB, timeoutSeconds: API_TIMEOUT_SECONDS, concurrency: null },
      ...own,
    })
  }

  /** One that callers call, with the rights that its record names, and more. */
  #addCalled(name: FunctionName, { may = [], environment, ...own }: Omit<Own, 'may'> & Partial<Own>): GatewayFunction {
    const { originSecrets } = this.#props
    const { description, rights } = FUNCTIONS[name]
    return this.#add(name, description, {
      ...own,
      environment: {
        ...this.#environment,
        ...(originSecrets && { [ENV.originSecrets]: originSecrets }),
        ...environment,
      },
      may: [...rights.map((right) => this.#may[right]), ...may],
    })
  }

  /** Another version only if its content has changed. */
  #tokenizerLayer(): LayerVersion {
    return new LayerVersion(this, 'TokenizerLayer', {
      description: 'js-tiktoken with the ranks of o200k_base',
      code: Code.fromAsset(bundleTokenizerLayer()),
      compatibleRuntimes: [Runtime.NODEJS_24_X],
      compatibleArchitectures: [Architecture.ARM_64],
    })
  }

  #chat(tokenizer: GatewayFunction): GatewayFunction {
    const { stage, originSecrets } = this.#props
    const askProviders = this.#askProviders()
    return this.#addCalled('chat', {
      environment: {
        ...GIVES_MEMORY_BACK,
        [ENV.tokenizerFunction]: tokenizer.functionName,
        // With a distribution in front: at its timeout the SDK would ask again for an answer that was generated and
        // paid for.
        ...(originSecrets && { [ENV.wholeAnswerMs]: String(EDGE_TIMEOUT_SECONDS * 1000 - EDGE_RESERVE_MS) }),
      },
      memoryMb: stage.chatMemoryMb,
      timeoutSeconds: FUNCTION_TIMEOUT_SECONDS,
      concurrency: stage.chatConcurrency,
      may: [invokeFunction(tokenizer), ...askProviders.may],
      acknowledged: askProviders.acknowledged,
    })
  }

  /** The rights to ask the upstreams of the catalog. */
  #askProviders(): Required<Pick<Own, 'may' | 'acknowledged'>> {
    const { stage, catalog } = this.#props
    return {
      may: [readProviderSecrets(this, stage), ...invokeBedrock(catalog)],
      acknowledged: [
        {
          id: acknowledgedSecrets(this, stage),
          reason: 'Provider keys of this stage only. Which there are is the catalog’s to say, and needs no deployment.',
        },
        ...acknowledgedWildcards(catalog),
      ],
    }
  }

  /** The one function that can make a key or an admin key. It asks a provider only to test a route. */
  #admin(): GatewayFunction {
    const { tables, stage } = this.#props
    const { deletionProtection, adminKeys } = stage
    const askProviders = this.#askProviders()
    return this.#add('admin', 'The admin API', {
      environment: {
        ...this.#environment,
        [ENV.protected]: String(deletionProtection),
        [ENV.adminKeys]: String(adminKeys),
      },
      may: [
        ...[describeTables(tables), ...readTables(tables), ...changeKeysAndCatalog(tables)],
        ...changeAdminKeys(tables),
        ...(adminKeys ? takeAdminKeys(tables) : []),
        ...askProviders.may,
      ],
      acknowledged: askProviders.acknowledged,
    })
  }

  /** A client of the gateway: it knows no table, and has a key of its own. */
  #probe(): GatewayFunction {
    const { stage } = this.#props
    const probe = this.#add('probe', 'Calls the gateway as a client does', {
      environment: { [ENV.stage]: stage.name },
      may: [readProbeSecret(this, stage)],
    })
    startEvery(this, PROBE_EVERY_MINUTES, probe, { schedule: 'ProbeSchedule', role: 'ProbeSchedulerRole' })
    return probe
  }

  /** The functions that callers call. */
  get called(): GatewayFunction[] {
    return [this.chat, this.api]
  }

  get all(): GatewayFunction[] {
    const probe = this.probe ? [this.probe] : []
    return [...this.called, this.admin, ...probe, this.tokenizer, this.sweep, this.close]
  }
}

function environmentOf({ stage, tables }: Props): Record<string, string> {
  return {
    [ENV.keysTable]: tables.keys.tableName,
    [ENV.usageTable]: tables.usage.tableName,
    [ENV.answersTable]: tables.answers.tableName,
    [ENV.stage]: stage.name,
    ...settingVariables(stage),
  }
}
