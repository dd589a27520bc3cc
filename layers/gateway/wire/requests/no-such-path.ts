import { GatewayError } from '../../domain/basics/gateway-error.ts'
import { plainLine } from '../../domain/basics/plain-text.ts'
import { HTTP_ROUTES, type HttpRoute } from '../../endpoints.ts'
import { closest } from '../basics/closest.ts'

const MOST_SHOWN = 100
const MOST_STEPS = 12
const VERSION = 'v1'

const ENDPOINTS = HTTP_ROUTES.map((route) => ({
  route,
  shown: route.path.replace(/\{\w+\+?\}/, 'ID'),
  steps: stepsOf(route.path).slice(1),
}))
export const CALLS = ENDPOINTS.map(({ route, shown }) => `${route.method} ${shown}`)
const LISTED = CALLS.join(', ')

/** The refusal of an unknown path. A wrong base URL is the usual reason, so the message explains its mistake. */
export function noSuchPath(method: string, path: string): GatewayError {
  const steps = stepsOf(path)
  if (steps.every((step) => step === VERSION)) return new GatewayError('not_found', WELCOME)
  const meant = findMeant(method === 'HEAD' ? 'GET' : method, steps)
  const called = `There is no ${plainLine(method, MOST_SHOWN)} ${plainLine(path, MOST_SHOWN)} here`
  if (!meant) return new GatewayError('not_found', `${called}.${didYouMean(path)} The endpoints are ${LISTED}.`)
  const { route, before } = meant
  const address = route.path.includes('{') ? `/${VERSION}/${steps.slice(before.length).join('/')}` : route.path
  const call = `${route.method} ${plainLine(address, MOST_SHOWN)}`
  const advice = `${faultOf(before, path)}. ${remedyFor(route, before)}, so that the call goes to ${call}.`
  return new GatewayError('not_found', `${called}: ${advice}`)
}

const WELCOME = `This is the address of a gateway to models. Set the base URL of an OpenAI SDK to this address with '/${VERSION}', and that of an Anthropic SDK to this address alone. The endpoints are ${LISTED}.`

function stepsOf(path: string): string[] {
  return path
    .split('/', 4 * MOST_STEPS)
    .map(plainStep)
    .filter(Boolean)
}

function plainStep(step: string): string {
  try {
    return decodeURIComponent(step).trim()
  } catch {
    return step
  }
}

type Meant = { readonly route: HttpRoute; readonly before: readonly string[] }

function findMeant(method: string, steps: readonly string[]): Meant | undefined {
  if (steps.length > MOST_STEPS) return undefined
  const ends = steps.flatMap((_, at) => {
    const rest = steps.slice(at)
    return ENDPOINTS.filter(({ route, steps: end }) => isSame(rest, end, route, method)).map(({ route }) => ({
      route,
      before: steps.slice(0, at),
    }))
  })
  return ends.find(({ route }) => route.method === method) ?? ends[0]
}

function isSame(rest: readonly string[], end: readonly string[], route: HttpRoute, method: string): boolean {
  if (end.at(-1)?.startsWith('{') !== true) return isLike(rest, end)
  const fixed = end.slice(0, -1)
  const hasId = end.at(-1) === '{id+}' ? rest.length >= end.length : rest.length === end.length
  return hasId && method === route.method && isLike(rest.slice(0, fixed.length), fixed)
}

function isLike(steps: readonly string[], others: readonly string[]): boolean {
  return steps.length === others.length && steps.every((step, i) => step.toLowerCase() === others[i])
}

function faultOf(before: readonly string[], path: string): string {
  if (before.includes('deployments')) return 'it is a path of Azure’s, which has the model in it'
  if (before.length === 0) return `the base URL lacks '/${VERSION}'`
  if (isLike(before, [VERSION])) {
    return path.includes('//')
      ? 'it has two slashes in a row'
      : 'it has a blank or a capital letter that does not belong'
  }
  if (before.every((step) => step === VERSION)) {
    return `the base URL has '/${VERSION}' ${before.length === 2 ? 'twice' : `${before.length} times`}`
  }
  const others = before.filter((step) => step !== VERSION)
  if (ENDPOINTS.some(({ steps }) => isLike(others, steps))) return 'the base URL has an endpoint in it'
  return `the base URL has '${plainLine(`/${before.join('/')}`, MOST_SHOWN)}' in place of '/${VERSION}'`
}

function remedyFor({ endpoint: { contract } }: HttpRoute, before: readonly string[]): string {
  if (before.includes('deployments')) {
    return `Use OpenAI’s own client, not the one for Azure, and set its base URL to this gateway’s address with '/${VERSION}'`
  }
  const orNone = contract === 'messages' ? ', or with none for a client that adds it, as Anthropic’s SDKs do' : ''
  return `Set the base URL to this gateway’s address with one '/${VERSION}' and nothing after it${orNone}`
}

function didYouMean(path: string): string {
  const near = closest(
    path,
    ENDPOINTS.map(({ shown }) => shown),
  )
  return near === undefined ? '' : ` Did you mean ${near}?`
}
