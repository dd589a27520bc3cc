import { HTTP_ROUTES } from '../../layers/gateway/endpoints.ts'

const LINKS = {
  '/usage': 'your balance, charges and requests, and code to copy',
  '/openapi.json': 'every call, field and error, in OpenAPI',
  '/llms.txt': 'the calls in short, for programs that read',
  '/health': 'whether the gateway answers',
}

export const USAGE_LINK = linkRow('/usage', LINKS['/usage'])

/** The first page of a gateway. It tells a stranger no more than the documents do. */
export function homeBody(): string {
  const links = Object.entries(LINKS).map(([path, words]) => linkRow(path, words))
  const calls = HTTP_ROUTES.map(({ method, path }) => {
    return `<li><code>${method} ${path.replace(/\{\w+\+?\}/, 'ID')}</code>`
  })
  return `<main><header class="title"><h1>Waybill</h1></header><p>A chat routing gateway: OpenAI- and Anthropic-compatible, with keys, limits and exact charges.</p><div class="panels">${panel(
    'Begin',
    '<p>The base URL of an OpenAI SDK is this address with <code>/v1</code>, its API key the one that the operator of this gateway has given you.</p>',
  )}${panel('Pages', list(links))}${panel('Calls', list(calls))}</div></main>`
}

function panel(title: string, content: string): string {
  return `<section class="panel"><h2>${title}</h2>${content}</section>`
}

function list(entries: readonly string[]): string {
  return `<ul class="plain inside">${entries.join('')}</ul>`
}

function linkRow(path: string, words: string): string {
  return `<li><a href="${path}">${path}</a> <span class="quiet">${words}</span>`
}
