import { Architecture, Code, LayerVersion, Runtime } from 'aws-cdk-lib/aws-lambda'
import { Construct } from 'constructs'
import { bundleTokenizerLayer } from '#bundles'
import type { CatalogData } from '../../layers/gateway/domain/routing/catalog.ts'
import { FUNCTIONS } from '../../layers/gateway/endpoints.ts'
import {
  CLOSE_EVERY_MINUTES,
  ENV,
  FUNCTION_TIMEOUT_SECONDS,
  PROBE_EVERY_MINUTES,
  PROBE_SECRET,
  SWEEP_EVERY_MINUTES,
  WEBHOOK_SECRET,
} from '../../layers/gateway/names.ts'
import { wildcard } from '../acknowledge.ts'
import type { NoticeBus } from '../data/notice-bus.ts'
import type { Tables } from '../data/tables.ts'
import type { UsageExport } from '../data/usage-export.ts'
import { acknowledgedWildcards, invokeBedrock } from '../rights/bedrock.ts'
import { invokeFunction, readSecret, secretArn, tableRights } from '../rights/permissions.ts'
import { settingVariables } from '../setting-table.ts'
import { EDGE_TIMEOUT_SECONDS, GIVES_MEMORY_BACK, pascal, reservedBy, type Stage } from '../stages.ts'
import { GatewayFunction, type GatewayFunctionProps } from './gateway-function.ts'

type Props = {
  readonly stage: Stage
  readonly tables: Tables
  readonly originSecrets: string | undefined
  readonly usageExport?: UsageExport | undefined
  readonly noticeBus?: NoticeBus | undefined
  /** The rights to call Bedrock are for its models. */
  readonly catalog: CatalogData
}

type Own = Pick<GatewayFunctionProps, 'description'> & Partial<GatewayFunctionProps>

/** Time for a cold start, an estimate and the settlement, out of CloudFront's timeout. */
const EDGE_RESERVE_MS = 10_000

export type Functions = ReturnType<typeof addFunctions>

export function addFunctions(parent: Construct, props: Props) {
  const scope = new Construct(parent, 'Functions')
  const { stage, tables, originSecrets, usageExport, noticeBus } = props
  const reserved = reservedBy(stage)
  const providers = askProviders(scope, props)
  const environment = {
    [ENV.keysTable]: tables.keys.tableName,
    [ENV.usageTable]: tables.usage.tableName,
    [ENV.answersTable]: tables.answers.tableName,
    [ENV.stage]: stage.name,
    ...settingVariables(stage),
  }
  const tokenizer = add('tokenizer', {
    description: 'Counts tokens with js-tiktoken where no upstream has',
    // A whole core: with less of one, the tokenizer would load longer and cost the same.
    memoryMb: 1_769,
    timeoutSeconds: 10,
    layers: [tokenizerLayer(scope)],
  })
  const ofCallers = {
    ...environment,
    ...(originSecrets && { [ENV.originSecrets]: originSecrets }),
    [ENV.tokenizerFunction]: tokenizer.functionName,
  }
  const chat = add('chat', {
    description: FUNCTIONS.chat.description,
    environment: {
      ...ofCallers,
      ...GIVES_MEMORY_BACK,
      // At CloudFront's timeout the SDK would ask again for an answer that was generated and paid for.
      ...(originSecrets && { [ENV.wholeAnswerMs]: String(EDGE_TIMEOUT_SECONDS * 1000 - EDGE_RESERVE_MS) }),
    },
    memoryMb: stage.chatMemoryMb,
    timeoutSeconds: FUNCTION_TIMEOUT_SECONDS,
    concurrency: reserved.chat,
    may: [...tableRights(tables, ...FUNCTIONS.chat.rights), invokeFunction(tokenizer), ...providers.may],
    acknowledged: providers.acknowledged,
  })
  const api = add('api', {
    description: FUNCTIONS.api.description,
    environment: ofCallers,
    may: [...tableRights(tables, ...FUNCTIONS.api.rights), invokeFunction(tokenizer)],
  })
  const sweep = add('sweep', {
    description: 'Finishes requests that died, and tells notices',
    environment: {
      ...environment,
      ...(noticeBus && { [ENV.eventBus]: noticeBus.bus.eventBusName }),
      ...(stage.webhookUrl && { [ENV.webhookUrl]: stage.webhookUrl }),
    },
    timeoutSeconds: SWEEP_EVERY_MINUTES * 60 - 10,
    concurrency: reserved.sweep,
    may: [
      ...tableRights(tables, 'findKeysToSweep', 'readKeyItems', 'admitAndSettle', 'writeRows', 'putEvents'),
      ...tableRights(tables, 'deletePointers', 'noteDeliveries'),
      ...(stage.webhookUrl ? [readSecret(secretArn(scope, stage, `${WEBHOOK_SECRET}-??????`))] : []),
      ...(noticeBus ? [noticeBus.put] : []),
    ],
  })
  sweep.startEvery(SWEEP_EVERY_MINUTES, 'SchedulerRole')
  const close = add('close', {
    description: 'Closes days: adds their usage up, and exports it',
    environment: { ...environment, ...(usageExport && { [ENV.exportBucket]: usageExport.bucket.bucketName }) },
    // Two cores, for 20 million rows in a run: one has all but the garbage collector's threads. docs/deploy.md has the figures.
    memoryMb: 3_538,
    timeoutSeconds: FUNCTION_TIMEOUT_SECONDS,
    concurrency: reserved.close,
    may: [
      ...tableRights(tables, 'listKeys', 'readRowsOfKeys', 'readRowsOfDays', 'keepDays', 'readOwners', 'switchExpiry'),
      ...(usageExport ? [usageExport.write] : []),
    ],
    acknowledged: usageExport?.acknowledged ?? [],
  })
  close.startEvery(CLOSE_EVERY_MINUTES)
  const tellsNotices = String(noticeBus !== undefined || stage.webhookUrl !== undefined)
  const ofAdmin = { [ENV.protected]: String(stage.deletionProtection), [ENV.tellsNotices]: tellsNotices }
  // The one function that can make a key or an admin key. It asks a provider only to test a route.
  const admin = add('admin', {
    description: 'The admin API',
    environment: { ...environment, ...ofAdmin, [ENV.adminKeys]: String(stage.adminKeys) },
    may: [
      ...tableRights(tables, 'describeTables', 'readForOperators', 'changeKeysAndCatalog', 'changeAdminKeys'),
      ...(stage.adminKeys ? tableRights(tables, 'takeAdminKeys') : []),
      ...providers.may,
    ],
    acknowledged: providers.acknowledged,
  })
  // A client of the gateway: it knows no table, and has a key of its own, whose ARN ends in six random characters.
  const probe = stage.probe
    ? add('probe', {
        description: 'Calls the gateway as a client does',
        environment: { [ENV.stage]: stage.name },
        may: [readSecret(secretArn(scope, stage, `${PROBE_SECRET}-??????`))],
      })
    : undefined
  probe?.startEvery(PROBE_EVERY_MINUTES)
  const called = [chat, api]
  const all = [...called, admin, ...(probe ? [probe] : []), tokenizer, sweep, close]
  return { chat, tokenizer, api, sweep, close, admin, probe, called, all }

  function add(name: string, own: Own): GatewayFunction {
    const usual = { memoryMb: 512, timeoutSeconds: 29, concurrency: null, environment: {} }
    return new GatewayFunction(scope, pascal(name), { ...usual, name, stage, may: [], acknowledged: [], ...own })
  }
}

/** Another version only if its content has changed. */
function tokenizerLayer(scope: Construct): LayerVersion {
  return new LayerVersion(scope, 'TokenizerLayer', {
    description: 'js-tiktoken with the ranks of o200k_base',
    code: Code.fromAsset(bundleTokenizerLayer()),
    compatibleRuntimes: [Runtime.NODEJS_24_X],
    compatibleArchitectures: [Architecture.ARM_64],
  })
}

function askProviders(scope: Construct, { stage, catalog }: Props): Pick<GatewayFunctionProps, 'may' | 'acknowledged'> {
  const secrets = secretArn(scope, stage, '*')
  const reason = 'Provider keys of this stage only. Which there are is the catalog’s to say, and needs no deployment.'
  return {
    may: [readSecret(secrets), ...invokeBedrock(catalog)],
    acknowledged: [wildcard(scope, secrets, reason), ...acknowledgedWildcards(catalog)],
  }
}
