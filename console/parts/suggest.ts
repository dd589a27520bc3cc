import type { SearchShape } from '../../layers/admin/api/shapes/answers.ts'
import { BRAND } from '../../layers/gateway/names.ts'
import { linkTo } from '../router.ts'
import { PAGES, titleOf } from './rail-pages.ts'

export type Suggestion = { readonly kind: string; readonly text: string; readonly more?: string; readonly href: string }

export type Sources = {
  readonly models: readonly string[]
  readonly found: { readonly text: string; readonly answer: SearchShape } | undefined
}

const ACTS: readonly (readonly [text: string, href: string])[] = [
  ['Create key', linkTo(['keys'], { act: 'create' })],
  ['Check the books', linkTo(['books'], { act: 'run' })],
  ['Put a catalog in force', linkTo(['catalog'], { act: 'edit' })],
  ['Send a request', linkTo(['playground'])],
  ['Test a route', linkTo(['routes'])],
  ['Export keys as CSV', linkTo(['keys'])],
]

const REQUEST = /^req_[0-9A-Z]{26}$/
/** Whole, with its prefix or without. */
const SECRET = new RegExp(`(?:${BRAND.keyPrefix}|(?<!\\w))[0-9A-Za-z]{43}(?!\\w)`)
/** Cut off, perhaps, but sent. */
const CUT = new RegExp(`${BRAND.keyPrefix}\\w{20,}`)
const MOST_OF_A_KIND = 5
const LEAST_TO_ASK = 2

/**
 * The text that may leave the page. An operator may search for a leaked secret: only its last four do, and of one that
 * is still being typed nothing does.
 */
export function askedText(typed: string, isSubmitted = false): string {
  const text = typed.trim()
  if (SECRET.test(text) || (isSubmitted && CUT.test(text))) return text.slice(-4)
  return text.includes(BRAND.keyPrefix) ? '' : text
}

export function isWorthAsking(text: string): boolean {
  return text.length >= LEAST_TO_ASK && !REQUEST.test(text)
}

export function suggestionsFor(typed: string, { models, found }: Sources): readonly Suggestion[] {
  const text = askedText(typed)
  if (!text && typed.trim()) return []
  if (REQUEST.test(text)) return [{ kind: 'Request', text, href: linkTo(['requests', text]) }]
  const isLike = (name: string) => name.toLowerCase().includes(text.toLowerCase())
  const keys = found?.text === text ? found.answer.keys : []
  return [
    ...some(PAGES.filter(isLike), (page) => ({ kind: 'Page', text: titleOf(page), href: linkTo([page]) })),
    ...some(
      ACTS.filter(([name]) => isLike(name)),
      ([name, href]) => ({ kind: 'Act', text: name, href }),
    ),
    ...some(keys, ({ id, name, last_four, external_id }) => ({
      kind: 'Key',
      text: name,
      more: [external_id, `…${last_four}`].filter(Boolean).join(' '),
      href: linkTo(['keys', id]),
    })),
    ...some(models.filter(isLike), (model) => ({
      kind: 'Model',
      text: model,
      href: linkTo(['catalog'], { model }),
    })),
  ]
}

function some<T>(all: readonly T[], toSuggestion: (one: T) => Suggestion): Suggestion[] {
  return all.slice(0, MOST_OF_A_KIND).map(toSuggestion)
}
