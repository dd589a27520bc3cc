import { plainLine } from '../../layers/gateway/domain/basics/plain-text.ts'
import { CliError } from '../../layers/terminal/output.ts'
import { at, type Exact, fieldsAt, isObject, readExactJson, TWICE, textAt, utf8Of } from '../reading/exact.ts'
import { dividedUp, scaledNumber, wholeNumberIn } from '../reading/numbers.ts'
import type { Source } from '../reading/read-source.ts'
import { Doubt, LIST_FORMS, type ListForm, type Wanted } from './forms.ts'
import { dearer, type Listed, type Picos, picosBy } from './listed.ts'

export type PriceList = ReturnType<typeof openLists>[number]

/** Labels are short, and no two of them are the same. */
export function openLists(sources: readonly Source[]) {
  const counts = new Map<string, number>()
  return sources.map((source) => {
    const root = readExactJson(utf8Of(source), `The list ${source.name}`)
    const entries = fieldsAt(root).flatMap(([, entry]) => (isObject(entry) ? [entry] : []))
    const isMarked = (mark: string) => entries.some((entry) => at(entry, mark) !== undefined)
    const form = LIST_FORMS.find(({ marks }) => marks.some(isMarked))
    if (!form) {
      const known = new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(LIST_FORMS.map(({ name }) => name))
      throw new CliError(`The list ${source.name} is not in the form of ${known}.`)
    }
    const file = plainLine(source.file, 60).replace(/\.json$/, '')
    const label = form.name === 'Portkey' ? `${form.name} ${file}` : form.name
    const count = (counts.get(label) ?? 0) + 1
    counts.set(label, count)
    return {
      label: count === 1 ? label : `${label} #${count}`,
      source,
      /** The model in this list, or why it is not believed; several if the list has prices of several regions, for example. */
      look: (wanted: Wanted) => {
        const found = form.find(root, wanted, source.file).filter((entry) => entry !== undefined)
        return found.map((entry) => readListed(form, entry, root))
      },
    }
  })
}

// All that is sold is from a tenth of a cent to 1,000 dollars for a million tokens. This is just so wide that a price in
// units wrong by a million is never within it.
const LEAST_PICO = 1_000n
const MOST_PICO = 1_000_000_000n
const MOST_TOKENS = 100_000_000
const MOST_SHOWN = 40

export function readListed(form: ListForm, entry: Exact, root: Exact): Listed | string {
  const valueAt = (holder: Exact | undefined, path?: string) => path && at(holder, ...path.split('.'))
  try {
    if (!isObject(entry)) throw new Doubt('it is there twice, or is no object')
    for (const path of form.currencies) requireDollars(valueAt(entry, path))
    requireDollars(valueAt(root, form.currencyOfAll))
    const tiers = form.tiers(entry)
    if (tiers.length > 20) throw new Doubt(`it has ${tiers.length} tiers`)
    const base = pricesIn(form.base(entry))
    const ranges = tiers.map((tier) => {
      const above = wholeNumberIn(tier.above, 1, MOST_TOKENS)
      if (above === undefined) throw new Doubt(`a tier begins above '${tier.above?.slice(0, MOST_SHOWN)}' tokens`)
      return { above, prices: tierPrices(pricesIn(tier.prices, `above ${above} tokens `), base) }
    })
    return {
      ranges: [{ above: 0, prices: base }, ...ranges.toSorted((a, b) => a.above - b.above)],
      contextLength: tokensOf(valueAt(entry, form.contextLength), 'context'),
      maxOutputTokens: tokensOf(valueAt(entry, form.maxOutputTokens), 'output limit'),
    }
  } catch (error) {
    if (error instanceof Doubt) return error.message
    throw error
  }

  function pricesIn(holder: Exact | undefined, where = ''): Picos {
    return picosBy((kind) => {
      const values = (form.kinds[kind] ?? []).map((path) => valueAt(holder, path))
      const pico = dearer(...values.map((value) => picoOf(value, form.places, `${where}${kind}`)))
      // Lists have 0 for a price of caches that they do not know.
      return pico === 0n && kind.startsWith('cache') ? undefined : pico
    })
  }
}

/** No tier is cheaper than the base. A price of caches that a tier leaves out is in the base's proportion to the input. */
function tierPrices(stated: Picos, base: Picos): Picos {
  const input = dearer(stated.input, base.input) ?? 0n
  return picosBy((kind) => {
    if (kind === 'input') return input
    if (kind === 'output') return dearer(stated.output, base.output)
    return stated[kind] ?? (base[kind] && base.input && dividedUp(input * base[kind], base.input))
  })
}

function requireDollars(currency: Exact | undefined): void {
  if (currency !== undefined && textAt(currency)?.toUpperCase() !== 'USD') {
    throw new Doubt(`its currency is ${shown(currency)} and not USD`)
  }
}

function picoOf(value: Exact | undefined, places: number, name: string): bigint | undefined {
  if (value === undefined) return undefined
  const pico = scaledNumber(textAt(value), places)
  if (pico === undefined || pico < 0n) throw new Doubt(`its ${name} is ${shown(value)}, which is no price`)
  if (pico !== 0n && (pico < LEAST_PICO || pico >= MOST_PICO)) {
    throw new Doubt(`its ${name} is ${shown(value)}, which is beyond all that is sold: the unit may be wrong`)
  }
  return pico
}

function tokensOf(value: Exact | undefined, name: string): number | undefined {
  if (value === undefined || value === '0') return undefined
  const tokens = wholeNumberIn(textAt(value), 1, MOST_TOKENS)
  if (tokens === undefined) throw new Doubt(`its ${name} is ${shown(value)}, which is no number of tokens`)
  return tokens
}

function shown(value: Exact): string {
  if (value === TWICE) return 'there twice'
  if (typeof value === 'string') return `'${value.slice(0, MOST_SHOWN)}'`
  return Array.isArray(value) ? 'a list' : isObject(value) ? 'an object' : 'a flag'
}
