/** Globs, with blanks between them, of what the files of a room may import beside one another. */
export type Room = {
  readonly imports?: string
  /** Only types may be imported from there. */
  readonly types?: string
}

const NODE = 'node:*{,/*}'
const PURE: Room = { imports: 'names.ts' }
const SHARED: Room = { imports: `domain/** names.ts platform/** wire/basics/** package.json zod ${NODE}` }
const ANYTHING: Room = { imports: '**' }
/** Operators have one door, so the command line has no store. */
const COMMAND_LINE: Room = {
  imports: `cli/** console/{build,usage-page/build}.ts contracts/** domain/** endpoints.ts infra/{catalog.json,deploy/run-infra.ts,functions/bundle.ts,setting-table.ts} layers/{admin,catalog,terminal}/** local/run-gateway.ts names.ts package.json platform/** wire/** @aws-sdk/* commander csv-parse/sync esbuild jsonc-parser yaml zod ${NODE}`,
}

/**
 * Paths below `layers/gateway` are written from there. A file is in the last room that has it, and each folder that a
 * `*` stands for is a room of its own.
 */
export const ROOMS: Readonly<Record<string, Room>> = {
  'names.ts': PURE,
  'endpoints.ts': PURE,
  'domain/**': { imports: 'endpoints.ts names.ts node:crypto node:util' },
  'platform/**': { imports: 'domain/** names.ts node:crypto node:net node:timers/promises node:tls' },
  'wire/**': { imports: 'domain/** endpoints.ts node:crypto' },
  'store/**': { imports: 'domain/** names.ts platform/** node:crypto node:util node:zlib', types: 'endpoints.ts' },
  'contracts/*.ts': { imports: 'contracts/*/** domain/** wire/**', types: 'endpoints.ts' },
  'contracts/*/**': { imports: 'contracts/*.ts domain/** wire/**' },
  'providers/*.ts': { imports: 'domain/** providers/*/** wire/**' },
  'providers/*/**': {
    imports:
      'domain/** platform/** providers/*.ts providers/bedrock/bedrock-sdk.ts providers/{conversation,http}/** wire/** eventsource-parser node:crypto',
    types: '@aws-sdk/client-bedrock-runtime',
  },
  // AWS's SDK is for Bedrock; everything else that a function calls has a client of our own.
  'providers/bedrock/bedrock-sdk.ts': { imports: 'platform/** @aws-sdk/*' },
  'flow/**': {
    imports:
      'contracts/** domain/** names.ts platform/retry.ts wire/** layers/tokenizer/sample-text.ts node:crypto node:stream',
    types: 'endpoints.ts platform/** providers/** store/** aws-lambda',
  },
  'middleware/**': {
    imports: 'contracts/** domain/** endpoints.ts flow/** names.ts wire/** node:crypto node:stream',
    types: 'platform/** store/** @middy/core aws-lambda node:zlib',
  },
  'layers/tokenizer/**': { imports: 'js-tiktoken/**' },
  'layers/catalog/**': SHARED,
  'layers/terminal/**': SHARED,
  'layers/admin/**': { imports: `layers/** zod ${NODE}` },
  'functions/**': {
    imports: `console/usage-page/build.ts docs/openapi.json layers/{gateway,tokenizer}/** @middy/core{,/*} ${NODE}`,
  },
  'functions/admin/**': { imports: `layers/** ${NODE}` },
  'infra/**': {
    imports: `cdk.json console/usage-page/build.ts domain/** endpoints.ts layers/{catalog,terminal}/** names.ts package.json platform/** @aws-sdk/* aws-cdk-lib{,/*} cdk-nag commander constructs esbuild zod ${NODE}`,
  },
  'cli/**': COMMAND_LINE,
  '*.*js': COMMAND_LINE,
  'console/**': {
    imports:
      'cli/{bills,books}/** domain/** endpoints.ts layers/admin/settings/** layers/admin/usage/csv-line.ts names.ts jsonc-parser preact{,/hooks}',
    types: 'layers/admin/api/shapes/* zod',
  },
  'console/{build,usage-page/{build,home}}.ts': {
    imports: `console/build.ts console/usage-page/home.ts endpoints.ts esbuild ${NODE}`,
  },
  'local/**': {
    imports: `cli/** functions/** layers/** local/dynamodb/** ${NODE}`,
    types: 'aws-lambda',
  },
  'local/dynamodb/**': { imports: `platform/** ${NODE}` },
  'examples/**': { imports: `aws-cdk-lib{,/*} constructs waybill/cdk ${NODE}` },
  'bench/**': ANYTHING,
  'test/**': ANYTHING,
}
