import type { LocalFile } from '../operator/local-gateway.ts'
import { DEMO_TERMS } from './demo-key.ts'
import type { LocalCatalog } from './load-local-catalog.ts'
import type { Paint } from './paint.ts'

export function welcome(
  { baseUrl, demoKey }: LocalFile,
  consoleUrl: string,
  { catalog, off }: LocalCatalog,
  paint: Paint,
): string {
  const models = catalog.models.filter(({ active }) => active).map(({ id }) => id)
  const model = models[0] ?? 'echo'
  return [
    paint.strong('Waybill is running on this machine.'),
    '',
    `  base_url  ${baseUrl}/v1`,
    `  key       ${demoKey}  ${paint.dim(`(${DEMO_TERMS})`)}`,
    `  console   ${consoleUrl}  ${paint.dim('(works once)')}`,
    `  models    ${models.join(', ') || 'none'}`,
    ...off.map(({ model: id, missing }) => paint.dim(`            ${id} is off: set ${missing.join(' or ')}`)),
    '',
    paint.strong('Try it'),
    '',
    `  curl ${baseUrl}/v1/chat/completions -i -H 'Authorization: Bearer ${demoKey}' -H 'Content-Type: application/json' -d '{"model":"${model}","messages":[{"role":"user","content":"Hello"}]}'`,
    '',
    paint.strong('With the openai SDK (npm install openai)'),
    '',
    "  import OpenAI from 'openai'",
    `  const client = new OpenAI({ baseURL: '${baseUrl}/v1', apiKey: '${demoKey}' })`,
    `  const stream = await client.chat.completions.create({ model: '${model}', stream: true,`,
    "    messages: [{ role: 'user', content: 'Hello' }] })",
    "  for await (const chunk of stream) process.stdout.write(chunk.choices[0]?.delta?.content ?? '')",
    '',
    `Operate it from another terminal: ${paint.strong('npm run -s waybill -- keys list --local')}`,
    'Ctrl-C stops everything.',
    '',
  ].join('\n')
}
