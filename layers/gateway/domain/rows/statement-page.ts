import { escaped, paper, tableRow } from '../basics/paper.ts'
import { formatCredits, parseSignedCredits } from '../money/money.ts'
import type { Statement } from './statement.ts'

type Balance = 'opening' | 'closing' | 'top_ups' | 'adoptions' | 'corrections'
type Summed = 'object' | 'topped_up' | 'adopted' | 'corrected'

/** A customer's month: a statement, or an invoice, of which no balance may be known. */
export type Sheet = Omit<Statement, Balance | Summed> & Partial<Pick<Statement, Balance>>

type Line = readonly string[]

/** The texts on the paper. An amount that is rounded has the exact one behind it. */
export function textsOf(sheet: Sheet) {
  const { first_day, last_day, external_id, currency, opening, closing, usage, charged } = sheet
  const { top_ups = [], adoptions = [], corrections = [] } = sheet
  const id = sheet.account_id ?? sheet.key_id ?? ''
  const shown = (credits: string) => (currency ? rounded(credits, currency) : credits)
  const rowOf = (words: string, { at, credits }: { readonly at: string; readonly credits: string }) => [
    `${at.slice(0, 10)} ${words}`,
    shown(credits),
  ]
  const balance: readonly Line[] = [
    ['Opening balance', shown(opening ?? '0')],
    ...top_ups.map((one) => rowOf(`Top-up ${one.reference ?? ''}`, one)),
    ...adoptions.map((one) => rowOf(`Balance of the key ${one.key_name}`, one)),
    ...corrections.map((one) => rowOf(`Correction ${one.reference ?? ''}`, one)),
    ['Usage', shown(charged === '0' ? '0' : `-${charged}`)],
  ]
  const used = usage.map(({ key_name, model, requests, prompt_tokens, completion_tokens, ...one }) => {
    const counts = [requests, prompt_tokens, completion_tokens].map(String)
    return [`${key_name}: ${model}`, ...counts, shown(one.charged)]
  })
  const foot = closing === undefined ? undefined : ['Closing balance', shown(closing)]
  return {
    lines: [external_id, id].filter((text) => text !== null),
    period: `${first_day} to ${last_day} (UTC), in ${currency?.name ?? 'credits'}`,
    tables: [
      ...(foot ? [{ title: 'Balance', heads: ['Entry', 'Credits'], rows: balance, foot }] : []),
      { title: 'Usage', heads: USAGE_HEADS, rows: used, foot: ['Total', '', '', '', shown(charged)] },
    ],
  }
}

const USAGE_HEADS: Line = ['Key and model', 'Requests', 'Prompt tokens', 'Completion tokens', 'Charged']

export function statementPage(statement: Statement): string {
  return paper(`Statement ${statement.month} ${statement.name}`, [sheetHtml(statement)])
}

export function sheetHtml(sheet: Sheet): string {
  const { lines, period, tables } = textsOf(sheet)
  return [
    `<section>${sheet.seller === null ? '' : `<p>${escaped(sheet.seller)}</p>`}`,
    `<h1>${escaped(sheet.name)}</h1><p>${lines.map(escaped).join('<br>')}</p><p>${escaped(period)}</p>`,
    ...tables.flatMap(({ title, heads, rows, foot }) => [
      `<h2>${title}</h2><table><thead>${tableRow(heads, 'th scope="col"')}</thead>`,
      `<tbody>${rows.map((row) => tableRow(row)).join('\n')}</tbody>`,
      `<tfoot>${tableRow(foot)}</tfoot></table>`,
    ]),
    '</section>',
  ].join('\n')
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
