import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, jest, test } from '@jest/globals'
import { ended } from '../cli/support/ended.ts'
import { ACCESS, startAwsAccount } from '../infra/support/aws-account.ts'
import { waybill } from '../support/command-line.ts'
import { emptyFolder, run, startLocal } from '../support/processes.ts'
import { hasCurl } from '../support/programs.ts'
import { INSTALL } from '../support/python.ts'
import { blocksOf, commandsOf, DOCUMENTS, ROOT, readDocument } from './support/markdown.ts'

jest.setTimeout(300_000)

const scripts: Readonly<Record<string, string>> = JSON.parse(readDocument('package.json')).scripts
const COMMANDS = [...new Set([...DOCUMENTS.flatMap(commandsOf), ...inlineCommands()])]

/** These are not run, for the reason beside each. */
const NOT_RUN: readonly (readonly [command: RegExp, reason: string])[] = [
  [/^npm ci$/, 'it would replace the packages that this test runs with'],
  [/^(npm ci && )?npm start$/, 'it is what the other commands work on'],
  [/^(npm ci && )?npm test$/, 'this is part of it'],
  [/^export WAYBILL_KEY=/, 'the tests set it'],
  [/^(export ANTHROPIC_BASE_URL=.*|claude)$/, 'test/clients runs it'],
  [/^python3 -m venv \.venv && /, 'it installs packages; a test below compares it'],
  [/^npm run bench( -- --(only \w+|write))?$/, 'it measures for minutes; test/bench has its arithmetic'],
  [/^npm run bench:console$/, 'it measures for a minute'],
  [/^npm run simulate -- --(histories 3000|broken all)$/, 'it takes long; test/simulation runs less'],
  [/^npm run (deploy|diff|destroy)( -- (-c [A-Za-z]+=\S+ ?)+)?$/, 'it needs an AWS account'],
  [/^(KEY=.*aws kms create-key|export AWS_REGION=)/, 'it needs an AWS account'],
  [/^npx cdk bootstrap( -c stage=\w+)?$/, 'it needs an AWS account'],
  [/^npm run preflight -- --stage \w+( --(region|catalog) \S+)?$/, 'test/infra/preflight.rest.test.ts runs it'],
  [
    /^aws (secretsmanager (create-secret|put-secret-value)|cloudformation (describe-stacks|update-termination-protection|delete-stack|(create|execute)-change-set)|iam attach-role-policy|(dynamodb|backup|events) [a-z-]+) --/,
    'it needs an AWS account',
  ],
  [
    /^(STAGE=|output[ (]|CHAT=|ROLLOUT=|aws (logs|lambda|service-quotas) |for GROUP in )/,
    'it needs an AWS account; test/infra/on-call.test.ts runs it with a program in the place of aws',
  ],
  [/^npm run smoke -- .*--origin /, 'it needs an AWS account; test/cli/stage-checks.rest.test.ts runs it'],
  [/^npm run -s waybill -- catalog prices /, 'it needs a list of prices: test/cli/catalog-prices.rest.test.ts runs it'],
  [/^npm run -s waybill -- catalog show --at /, 'it needs an older catalog: test/cli/changes.rest.test.ts runs it'],
  [/^npm run -s waybill -- reconcile /, 'it needs a bill: test/cli/reconcile.rest.test.ts runs it'],
  [/^npm run -s waybill -- use\b/, 'it keeps a gateway for the next commands: test/cli/use.test.ts runs it'],
  [/^npm run -s waybill -- usage tail /, 'it goes on until it is ended: test/cli/usage-filters.rest.test.ts runs it'],
  [/^npm run -s waybill -- invoice /, 'it ends with 1 while days are open: test/cli/invoice.rest.test.ts runs it'],
  [/^npm run -s waybill -- statement /, 'it refuses days that are open: test/cli/statement.rest.test.ts runs it'],
  [/^npm run -s waybill -- export focus /, 'it refuses days that are open: test/cli/export-focus.test.ts runs it'],
  [/^(npm run -s waybill --|npx waybill) console /, 'it serves until it is ended: test/cli/console.test.ts runs it'],
  [
    /^curl (--aws-sigv4|-H "Authorization: Bearer \$WAYBILL_ADMIN_KEY") /,
    'it needs an AWS account; a test below has the first signed',
  ],
  [
    /^(export (WAYBILL_WEBHOOK_SECRET|WAYBILL_ADMIN(_KEY)?|STRIPE_WEBHOOK_SECRET|PAYMENT_LINK)=|npm start -- --webhook |npx node examples\/stripe\/)/,
    'test/examples/guide-stripe.rest.test.ts runs it',
  ],
  [
    /^(curl .*\/key\/list\?|npm run -s waybill -- import |npm run -s waybill -- catalog (check|push) imported\/|sh imported\/)/,
    'test/examples/guide-litellm.rest.test.ts runs it',
  ],
  [
    /^(npm install waybill aws-cdk aws-cdk-lib constructs|npx waybill( init)?)$/,
    'test/cli/package.rest.test.ts runs it',
  ],
  [/^(unzip waybill-code\.zip |aws s3 cp |aws cloudformation deploy )/, 'it needs an AWS account'],
  [/^jq --arg keys KEYS_TABLE /, 'it needs a release: test/infra/construct.rest.test.ts runs it'],
  [/^(npm audit signatures|sha256sum -c SHA256SUMS|gh attestation verify) ?/, 'it needs a release'],
  [/^git (pull|checkout COMMIT)$/, 'it would change the files of this test'],
]

const isRun = (command: string) => !NOT_RUN.some(([pattern]) => pattern.test(command))
const WAYBILL = /^(npm run -s waybill --|npx waybill) /
const waybillCommands = COMMANDS.filter((command) => WAYBILL.test(command) && isRun(command))

const folder = emptyFolder()
const file = join(folder, 'catalog.json')
const { providers, models } = JSON.parse(readDocument('local/catalog.json'))
const echoes = models.filter(({ id }: { id: string }) => id === 'echo')
writeFileSync(file, JSON.stringify({ providers: { echo: providers.echo }, models: echoes }))
const { local } = await startLocal(folder)

test('every command in the documents is run by a test, or has a stated reason not to be', () => {
  const unknown = COMMANDS.filter((command) => isRun(command) && !/^(npm run |npx waybill |curl )/.test(command))
  expect(unknown).toEqual([])
  expect(NOT_RUN.filter(([pattern]) => !COMMANDS.some((command) => pattern.test(command)))).toEqual([])
})

test('every npm script that the documents name exists', () => {
  const named = COMMANDS.flatMap((command) => /^npm run (?:-s )?(\S+)/.exec(command)?.[1] ?? [])
  expect(named.length).toBeGreaterThan(20)
  expect(named.filter((name) => !(name in scripts))).toEqual([])
})

test('every stage, context option and test that the documents name exists', () => {
  const [stages, app] = [readDocument('infra/stages.ts'), readDocument('infra/app.ts')]
  for (const command of COMMANDS) {
    for (const [, stage] of command.matchAll(/(?:--stage |stage=|Waybill-|waybill\/)([a-z]+)\b/g))
      expect(stages).toContain(`name: '${stage}'`)
    for (const [, name] of command.matchAll(/-c (\w+)=/g)) expect(app).toContain(`context('${name}')`)
    for (const [path] of command.matchAll(/\btest\/\S+/g))
      expect([path, existsSync(join(ROOT, path))]).toEqual([path, true])
  }
})

test('every waybill command in the documents works on a running gateway', async () => {
  expect(waybillCommands.length).toBeGreaterThan(20)
  const failed: string[] = []
  for (const command of waybillCommands) {
    const args = here(await filledIn(wordsOf(command.replace(WAYBILL, ''))))
    const { code, printed } = await runInside(args)
    const isFine = code === 0 && (!args.includes('--help') || printed.startsWith('Usage: '))
    if (!isFine) failed.push(`${command}: ${printed}`)
  }
  expect(failed).toEqual([])
})

test.each(COMMANDS.filter((command) => isRun(command) && /^npm run (?!-s waybill)/.test(command)))(
  'the documented command "%s" runs without an error',
  async (command) => {
    const [script = '', ...args] = wordsOf(command.replace(/^npm run /, '')).filter((word) => word !== '--')
    const [node, preload, guard, program = '', ...more] = (scripts[script] ?? '').split(' ')
    expect([node, preload, guard]).toEqual(['node', '-r', './require-node.cjs'])
    const { code, stdout, stderr } = await run(program, [...more, ...here(args)], folder).ended
    expect({ code, stderr, stdout }).toMatchObject({ code: 0, stderr: '' })
  },
)

test('the command that tests name for the libraries of Python is the documented one', () => {
  expect(COMMANDS).toContain(INSTALL)
})

const testWithCurl = hasCurl() ? test : test.skip

testWithCurl.each(COMMANDS.filter((command) => command.startsWith('curl ') && isRun(command)))(
  'a documented curl command is answered by the gateway: %s',
  async (command) => {
    const { code, stdout } = await started('sh', ['-c', atLocal(command)])
    expect(code).toBe(0)
    expect(stdout).toMatch(/^HTTP\/1.1 200 OK/)
    expect(stdout).toContain('"content":"echo: Hello"')
  },
)

testWithCurl('the documented call of a stage’s admin API is signed as AWS demands', async () => {
  const [command = ''] = COMMANDS.filter((it) => it.startsWith('curl --aws-sigv4'))
  const account = await startAwsAccount()
  account.replies = { 'GET /admin/v1/keys': { body: 'a list' } }
  const env = { ...ACCESS, AWS_SESSION_TOKEN: 'token', ADMIN_URL: account.env.AWS_ENDPOINT_URL_STS ?? '' }
  const { code, stdout } = await started('sh', ['-c', command.replace('REGION', 'eu-west-1')], env)
  await account[Symbol.asyncDispose]()
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'a list' })
  expect(account.asked).toEqual(['GET /admin/v1/keys execute-api/eu-west-1'])
})

test.each(DOCUMENTS.flatMap((path) => blocksOf(path, 'js').map((block) => [path, block] as const)))(
  'the JavaScript in %s runs as it stands',
  async (_, block) => {
    const { code, stdout } = await started(process.execPath, ['--input-type=module', '-e', atLocal(block)])
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'echo: Hello' })
  },
)

/** Runs the command in this process: thirty processes would take longer than all the rest. */
async function runInside(args: readonly string[]): Promise<{ code: number | null; printed: string }> {
  const { code, stdout, stderr } = await waybill(folder, args.length > 1 ? [...args, '--yes'] : args)
  return { code, printed: stdout + stderr }
}

/** Commands that the tables for support and for the operator's week name within a line. */
function inlineCommands(): string[] {
  const [tables = ''] = readDocument('docs/operate.md').split('\n## On call\n')
  const named = tables.matchAll(/`((?:accounts|audit|catalog|events|invoice|keys|reconcile|routes|usage)\b[^`]*)`/g)
  return Array.from(named, ([, text]) => `npm run -s waybill -- ${text} --local`)
}

const ADMIN_KEY = ['--scopes', 'usage.read', '--allow', '203.0.113.0/24', '--daily-grant', '0']

/** Each command has a key of its own, so that none meets a key that another has revoked. */
async function filledIn(words: readonly string[]): Promise<string[]> {
  const placeholders: Record<string, () => string | Promise<string>> = {
    FILE: () => file,
    MODEL: () => 'echo',
    KEY: () => newId('keys', 'create', '--name', 'document', '--credits', '5'),
    ADMIN_KEY: () => newId('admin-keys', 'create', '--name', 'x', ...ADMIN_KEY),
    REQUEST_ID: newRequest,
  }
  const filled: string[] = []
  for (const word of words) filled.push((await placeholders[word]?.()) ?? word)
  return filled
}

/** The id of something that is made in the gateway. */
async function newId(...args: string[]): Promise<string> {
  const { stdout } = await waybill(folder, [...args, '--local', '--json', '--yes'])
  return (JSON.parse(stdout) as { id: string }).id
}

async function newRequest(): Promise<string> {
  const response = await fetch(`${local.baseUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${local.demoKey}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ model: 'echo', messages: [{ role: 'user', content: 'Hello' }] }),
  })
  await response.text()
  return response.headers.get('x-request-id') ?? ''
}

/** The local gateway in place of a stage. */
function here(args: readonly string[]): string[] {
  const at = args.indexOf('--stage')
  return at < 0 ? [...args] : args.toSpliced(at, 2, '--local')
}

function atLocal(text: string): string {
  expect(text).toContain('http://127.0.0.1:8787')
  return text.replaceAll('http://127.0.0.1:8787', local.baseUrl)
}

function wordsOf(command: string): string[] {
  return [...command.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? '')
}

async function started(program: string, args: string[], env: Record<string, string> = {}) {
  const { code, stdout } = await ended(program, args, ROOT, { ...process.env, WAYBILL_KEY: local.demoKey, ...env })
  return { code, stdout }
}
