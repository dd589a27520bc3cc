import type { SearchShape } from '../../layers/admin/api/shapes/answers.ts'
import { BRAND } from '../../layers/gateway/names.ts'
import { linkTo, PAGES, pageTitle, placeOf, type Query } from '../router.ts'

export type Suggestion = { readonly kind: string; readonly text: string; readonly more?: string; readonly href: string }

export type Sources = {
  readonly models: readonly string[]
  readonly found: { readonly text: string; readonly answer: SearchShape } | undefined
}

/** Each with its page, and the act in the address. */
const ACTS: Readonly<Record<string, readonly [page: string, act?: string]>> = {
  'Create customer': ['accounts', 'create'],
  'Create key': ['keys', 'create'],
  'Check the books': ['books', 'run'],
  'Put a catalog in force': ['catalog', 'edit'],
  'Send a request': ['playground'],
  'Test a route': ['routes'],
  'Export keys as CSV': ['keys'],
}

const REQUEST = /^req_[0-9A-Z]{26}$/
/** Whole, with its prefix or without. */
const secret = () => new RegExp(`(?:${BRAND.keyPrefix}|(?<!\\w))[0-9A-Za-z]{43}(?!\\w)`)
/** Cut off, perhaps, but sent. */
const cut = () => new RegExp(`${BRAND.keyPrefix}\\w{20,}`)
const MOST_OF_A_KIND = 5
const LEAST_TO_ASK = 2

/** An operator may search for a leaked secret: only its last four leave the page, and of one still being typed nothing. */
export function askedText(typed: string, isSubmitted = false): string {
  const text = typed.trim()
  if (secret().test(text) || (isSubmitted && cut().test(text))) return text.slice(-4)
  return text.includes(BRAND.keyPrefix) ? '' : text
}

export function isWorthAsking(text: string): boolean {
  return text.length >= LEAST_TO_ASK && !REQUEST.test(text)
}

export function suggestionsFor(typed: string, { models, found }: Sources): readonly Suggestion[] {
  const text = askedText(typed)
  if (!text && typed.trim()) return []
  if (REQUEST.test(text)) return [{ kind: 'Request', text, href: linkTo(['requests', text]) }]
  const isLike = (one: Suggestion) => one.text.toLowerCase().includes(text.toLowerCase())
  const { accounts = [], keys = [] } = found?.text === text ? found.answer : {}
  const byKind: readonly (readonly Suggestion[])[] = [
    PAGES.map((page) => placed('Page', pageTitle(page), page)).filter(isLike),
    Object.entries(ACTS)
      .map(([name, [page, act]]) => placed('Act', name, page, { act }))
      .filter(isLike),
    accounts.map((one) => named('Customer', one, [one.external_id])),
    keys.map((one) =>
      named('Key', one, [one.account_name && `of ${one.account_name}`, one.external_id, `…${one.last_four}`]),
    ),
    models.map((model) => placed('Model', model, 'catalog', { model })).filter(isLike),
  ]
  return byKind.flatMap((some) => some.slice(0, MOST_OF_A_KIND))
}

function placed(kind: string, text: string, page: string, query?: Query): Suggestion {
  return { kind, text, href: linkTo([page], query) }
}

type Named = { readonly id: string; readonly name: string }

function named(kind: string, { id, name }: Named, more: readonly (string | null)[]): Suggestion {
  return { kind, text: name, more: more.filter(Boolean).join(' '), href: linkTo(placeOf(id)) }
}
