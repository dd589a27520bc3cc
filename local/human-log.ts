import { plainLine, plainText } from '../layers/gateway/domain/basics/plain-text.ts'
import { formatCredits } from '../layers/gateway/domain/money/money.ts'
import type { Log } from '../layers/gateway/platform/log/log.ts'
import type { Paint } from '../layers/terminal/terminal.ts'

/** A line for each request, for a person who watches the terminal. The colours are ours, and no text brings its own. */
export function humanLog(print: (line: string) => void, paint: Paint): Log {
  const say = (painted: string, text: string) => print(`${painted} ${plainLine(text)}`)
  const sayError = (painted: string, text: string, error: unknown) =>
    // Indented, so that no line of an error's own message looks like one of the log.
    print(`${painted} ${plainLine(text)}\n${plainText(stackOf(error)).replace(/^/gm, '    ')}`)
  return {
    request: (row) => {
      const status =
        row.httpStatus < 400 && !row.errorCode ? paint.good(`${row.httpStatus}`) : paint.bad(`${row.httpStatus}`)
      const what = [row.endpoint, row.model, row.provider && `via ${row.provider}`, row.errorCode]
        .filter(Boolean)
        .join(' ')
      say(`${paint.dim(row.requestId)} ${status}`, `${what} ${row.durationMs} ms, ${formatCredits(row.cost)} credits`)
    },
    upstreamFailed: (provider, failure) => say(paint.bad('upstream'), `${provider}: ${failure.message}`),
    beyondCap: (provider, model) => say(paint.bad('upstream'), `${provider}: ${model} ignores its output cap`),
    unpaid: (provider, costAtMost) => {
      const cost = costAtMost === undefined ? '' : `, at most for ${formatCredits(costAtMost)} credits`
      say(paint.dim('unpaid'), `${provider} may bill an answer that nobody got${cost}`)
    },
    lossReached: (keyId) => say(paint.bad('loss'), `${keyId} has reached its bound on loss (--daily-loss) for today`),
    contextExceeded: (route, promptTokens, contextLength) =>
      say(paint.bad('context'), `${route} counted ${promptTokens} prompt tokens; contextLength is ${contextLength}`),
    unsettled: (error, requestId) => sayError(paint.bad('unsettled'), `${requestId}: the sweep will finish it`, error),
    invalidKey: () => say(paint.bad('401'), 'a request had no valid key'),
    swept: (count) => {
      if (count > 0) say(paint.dim('sweep'), `finished ${count} dead requests`)
    },
    // On one machine it is of no interest, and a fresh one would be told of the empty day before it.
    closed: () => {},
    problem: (what, error, requestId) => sayError(paint.bad('problem'), `${requestId}: ${what}`, error),
  }
}

function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const stack = error.stack ?? error.message
  return error.cause === undefined ? stack : `${stack}\ncaused by ${stackOf(error.cause)}`
}
