import { formatCredits } from '../layers/gateway/domain/money.ts'
import type { Log } from '../layers/gateway/log/log.ts'
import type { Paint } from './paint.ts'

/** A line for each request, for a person who watches the terminal. */
export function humanLog(print: (line: string) => void, paint: Paint): Log {
  return {
    request: (row) => {
      const status =
        row.httpStatus < 400 && !row.errorCode ? paint.good(`${row.httpStatus}`) : paint.bad(`${row.httpStatus}`)
      const what = [row.endpoint, row.model, row.provider && `via ${row.provider}`, row.errorCode]
        .filter(Boolean)
        .join(' ')
      print(`${paint.dim(row.requestId)} ${status} ${what} ${row.durationMs} ms, ${formatCredits(row.cost)} credits`)
    },
    upstreamFailed: (provider, failure) => print(`${paint.bad('upstream')} ${provider}: ${failure.message}`),
    beyondCap: (provider, model) => print(`${paint.bad('upstream')} ${provider}: ${model} ignores its output cap`),
    unpaid: (provider, costAtMost) => {
      const cost = costAtMost === undefined ? '' : `, at most for ${formatCredits(costAtMost)} credits`
      print(`${paint.dim('unpaid')} ${provider} may bill an answer that nobody got${cost}`)
    },
    unsettled: (error, requestId) =>
      print(`${paint.bad('unsettled')} ${requestId}: the sweep will finish it\n${stackOf(error)}`),
    invalidKey: () => print(`${paint.bad('401')} a request had no valid key`),
    swept: (count) => {
      if (count > 0) print(`${paint.dim('sweep')} finished ${count} dead requests`)
    },
    closed: (days) => {
      if (days > 0) print(`${paint.dim('close')} added up the usage of ${days} days`)
    },
    problem: (what, error, requestId) => print(`${paint.bad('problem')} ${requestId}: ${what}\n${stackOf(error)}`),
  }
}

function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const stack = error.stack ?? error.message
  return error.cause === undefined ? stack : `${stack}\ncaused by ${stackOf(error.cause)}`
}
