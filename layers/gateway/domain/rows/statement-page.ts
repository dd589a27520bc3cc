import { escaped, paper, tableRow } from '../basics/paper.ts'
import { formatCredits, parseSignedCredits } from '../money/money.ts'
import type { Statement } from './statement.ts'

/** The statement on paper. An amount that is rounded has the exact one behind it. */
export function statementPage(statement: Statement): string {
  const { month, first_day, last_day, seller, name, external_id, currency, usage } = statement
  const id = statement.account_id ?? statement.key_id ?? ''
  const lines = [external_id, id].flatMap((text) => (text === null ? [] : escaped(text)))
  const shown = (credits: string) => (currency ? rounded(credits, currency) : credits)
  const row = (what: string, credits: string) => tableRow([what, shown(credits)])
  return paper(`Statement ${month} ${name}`, [
    seller === null ? '' : `<p>${escaped(seller)}</p>`,
    `<h1>${escaped(name)}</h1><p>${lines.join('<br>')}</p>`,
    `<p>Statement of ${first_day} to ${last_day} (UTC), in ${currency?.name ?? 'credits'}</p>`,
    `<table><tbody>${row('Opening balance', statement.opening)}`,
    ...statement.top_ups.map((one) => row(`${one.at.slice(0, 10)} Top-up ${one.reference ?? ''}`, one.credits)),
    ...statement.adoptions.map((one) => row(`${one.at.slice(0, 10)} Balance of the key ${one.key_name}`, one.credits)),
    ...statement.corrections.map((one) => row(`${one.at.slice(0, 10)} Correction ${one.reference ?? ''}`, one.credits)),
    row('Usage', statement.charged === '0' ? '0' : `-${statement.charged}`),
    `</tbody><tfoot>${row('Closing balance', statement.closing)}</tfoot></table>`,
    '<h2>Usage</h2>',
    `<table><thead>${tableRow(['Key and model', 'Requests', 'Tokens', 'Charged'], 'th scope="col"')}</thead><tbody>`,
    ...usage.map((one) => {
      const tokens = String(one.prompt_tokens + one.completion_tokens)
      return tableRow([`${one.key_name}: ${one.model}`, String(one.requests), tokens, shown(one.charged)])
    }),
    `</tbody><tfoot>${tableRow(['Total', '', '', shown(statement.charged)])}</tfoot></table>`,
  ])
}

function rounded(credits: string, { digits }: NonNullable<Statement['currency']>): string {
  const nano = parseSignedCredits(credits) ?? 0n
  const unit = 10n ** BigInt(9 - digits)
  const [size, sign] = nano < 0n ? [-nano, '-'] : [nano, '']
  const units = (size + unit / 2n) / unit
  const [whole = '', part = ''] = formatCredits(units * unit).split('.')
  const text = `${units === 0n ? '' : sign}${whole}${digits > 0 ? `.${part.padEnd(digits, '0')}` : ''}`
  return units * unit === size ? text : `${text} (${credits})`
}
