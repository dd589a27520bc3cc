import { HTTP_ROUTES } from '../../layers/gateway/endpoints.ts'
import type { Page, Pages } from '../../layers/gateway/middleware/without-key.ts'

const COMMON = { 'X-Content-Type-Options': 'nosniff', 'Referrer-Policy': 'no-referrer' }
const POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
const NAME = 'Waybill'
const CALLS = HTTP_ROUTES.map(({ method, path }) => `${method} ${path.replace(/\{\w+\+?\}/, 'ID')}`)
const WHAT = 'A chat routing gateway: OpenAI- and Anthropic-compatible, with keys, limits and exact charges.'

/** The pages of every gateway, which tell a stranger no more than the documents do. */
export const PUBLIC_PAGES: Pages = {
  '/': () => page(home(), 'text/html; charset=utf-8', { 'Content-Security-Policy': POLICY }),
  '/health': () => json('{"status":"ok"}', { 'Cache-Control': 'no-store' }),
  '/llms.txt': () => page(llms(), 'text/plain; charset=utf-8'),
  '/openapi.json': async () => json((await import('#openapi')).openapiText()),
}

function home(): string {
  const paths = CALLS.map((call) => `<li><code>${call}</code>`).join('')
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark"><title>${NAME}</title><body><main><h1>${NAME}</h1><p>${WHAT}</p><p>The base URL of an OpenAI SDK is this address with <code>/v1</code>, its API key the one that the operator of this gateway has given you.</p><ul><li><a href="/openapi.json">openapi.json</a>: every call, in OpenAPI<li><a href="/llms.txt">llms.txt</a>: the same in short, for programs that read<li><a href="/health">health</a></ul><h2>Calls</h2><ul>${paths}</ul></main></body></html>`
}

function llms(): string {
  const paths = CALLS.map((call) => `- ${call}`).join('\n')
  return `# ${NAME}

> ${WHAT}

Call it as you would call OpenAI: the base URL is this address with /v1, and every call has the header "Authorization: Bearer KEY" with a key of this gateway. GET /v1/models lists the models of the key, POST /v1/quote what a request would cost. An answer has X-Request-Id, by which GET /v1/usage/ID tells its charge.

## Calls

${paths}

## Documents

- [OpenAPI](/openapi.json): every call, its fields and its errors
`
}

function page(body: string, type: string, headers: Readonly<Record<string, string>> = {}): Page {
  return { body, headers: { ...COMMON, 'Content-Type': type, 'Cache-Control': 'public, max-age=300', ...headers } }
}

function json(body: string, headers?: Readonly<Record<string, string>>): Page {
  return page(body, 'application/json', { 'Access-Control-Allow-Origin': '*', ...headers })
}
