import { plainText } from './plain-text.ts'

const STYLE = [
  'body{font:14px/1.5 system-ui,sans-serif;padding:2rem max(1rem,calc(50% - 24rem));color:#111;background:#fff}',
  'section{break-after:page;padding-bottom:4rem}section:last-of-type{break-after:auto}',
  'table{border-collapse:collapse;width:100%}th,td{padding:.3rem .5rem;border-bottom:1px solid #ccc;text-align:right}',
  'th:first-child,td:first-child{text-align:left;overflow-wrap:anywhere}tfoot td{font-weight:700}',
  '.problems{border:2px solid #b00;padding:.5rem 1rem}',
].join('')

/** A page to be printed, which loads nothing and runs nothing. */
export function paper(title: string, sheets: readonly string[]): string {
  return [
    '<!doctype html><html lang="en"><head><meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">`,
    `<title>${escaped(title)}</title><style>${STYLE}</style></head><body>`,
    ...sheets,
    '</body></html>\n',
  ].join('\n')
}

export function tableRow(cells: readonly string[], tag = 'td'): string {
  return `<tr>${cells.map((cell) => `<${tag}>${escaped(cell)}</${tag.split(' ')[0]}>`).join('')}</tr>`
}

const SIGNS: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

export function escaped(text: string): string {
  return plainText(text).replace(/[&<>"']/g, (sign) => SIGNS[sign] as string)
}
