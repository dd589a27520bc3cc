import { relative, resolve } from 'node:path'
import { LOCAL_FOLDER, type LocalFile } from '../cli/connect/local-gateway.ts'
import { shellPath, shellWord } from '../layers/gateway/domain/basics/shell-word.ts'
import { WAYBILL } from '../layers/terminal/how-to-run.ts'
import type { Paint } from '../layers/terminal/terminal.ts'
import { DEMO_TERMS } from './issue-key.ts'
import type { InForce, LocalCatalog } from './local-catalog.ts'
import type { LocalSettings } from './settings.ts'
import { webhookSecretFile } from './webhook.ts'

type Started = {
  readonly file: LocalFile
  readonly consoleUrl: string
  readonly local: LocalCatalog
  readonly inForce: InForce
  readonly settings: LocalSettings
}

export function welcome({ file, consoleUrl, local, inForce, settings }: Started, paint: Paint): string {
  const { baseUrl, demoKey } = file
  const { catalog, off } = inForce.isOperators ? { catalog: inForce.data, off: [] } : local
  const models = catalog.models.filter(({ active }) => active).map(({ id }) => id)
  const model = models[0] ?? 'echo'
  const body = { model, messages: [{ role: 'user', content: 'Hello' }] }
  const operate = operateWith(settings)
  return [
    paint.strong('Waybill is running on this machine.'),
    '',
    `  base_url  ${baseUrl}/v1`,
    `  key       ${demoKey}  ${paint.dim(`(${DEMO_TERMS})`)}`,
    `  console   ${consoleUrl}`,
    paint.dim(`            signs a browser in, once; then ${new URL(consoleUrl).origin} is enough. Another browser:`),
    paint.dim(`            ${operate} console --local`),
    `  usage     ${baseUrl}/usage  ${paint.dim('(a page for the owner of a key)')}`,
    `  models    ${models.join(', ') || 'none'}`,
    ...off.map(({ model: id, missing }) => paint.dim(`            ${id} is off: set ${missing.join(' or ')}`)),
    ...(inForce.isOperators ? operatorsCatalog(inForce, settings).map(paint.dim) : []),
    `  data      ${dataOf(settings)}`,
    ...(settings.webhook ? [`  notices   ${settings.webhook.url}  ${paint.dim(`(${signedWith(settings)})`)}`] : []),
    '',
    paint.strong('Try it'),
    '',
    `  curl ${shellWord(`${baseUrl}/v1/chat/completions`)} -i -H ${shellWord(`Authorization: Bearer ${demoKey}`)} -H 'Content-Type: application/json' -d ${shellWord(JSON.stringify(body))}`,
    '',
    paint.strong('With the openai SDK (npm install openai)'),
    '',
    "  import OpenAI from 'openai'",
    `  const client = new OpenAI({ baseURL: '${baseUrl}/v1', apiKey: '${demoKey}' })`,
    `  const stream = await client.chat.completions.create({ model: ${JSON.stringify(model)}, stream: true,`,
    "    messages: [{ role: 'user', content: 'Hello' }] })",
    "  for await (const chunk of stream) process.stdout.write(chunk.choices[0]?.delta?.content ?? '')",
    '',
    `Operate it from another terminal: ${paint.strong(`${operate} keys list --local`)}`,
    'Ctrl-C stops everything.',
    '',
  ].join('\n')
}

function signedWith({ webhook, folder }: LocalSettings): string {
  const place = webhook?.secret === undefined ? relative('', webhookSecretFile(folder)) : 'WAYBILL_WEBHOOK_SECRET'
  return `signed with the secret in ${place}`
}

function operatorsCatalog({ version, pushedBy }: InForce, settings: LocalSettings): string[] {
  const file = relative('', settings.catalogFile)
  return [
    `            version ${version} of the catalog stays in force, as ${pushedBy ?? 'an operator'} put it there;`,
    `            ${file} was not loaded: ${operateWith(settings)} catalog push ${shellPath(file)} --local`,
  ]
}

/** The command line looks for the gateway in its usual folder, or in the one that the variable names. */
function operateWith({ folder }: LocalSettings): string {
  const where = folder === resolve(LOCAL_FOLDER) ? '' : `WAYBILL_DATA=${shellWord(folder)} `
  return `${where}${WAYBILL}`
}

function dataOf({ folder, isInMemory }: LocalSettings): string {
  return isInMemory ? 'in memory, and gone at the end' : `kept in ${relative('', folder) || folder}`
}
