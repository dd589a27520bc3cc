import { visit } from 'jsonc-parser'
import { jsonFault } from '../../layers/gateway/domain/basics/json-fault.ts'
import { readMoment } from '../../layers/gateway/domain/basics/time.ts'
import { CliError } from '../../layers/terminal/cli-error.ts'

/** Stands for the value of a name that an object has twice: readers of JSON do not agree on which one holds. */
export const TWICE = Symbol('twice')

/** A value of JSON or YAML. Numbers stay texts, because a float would change amounts. The only symbol is TWICE. */
export type Exact = string | boolean | null | symbol | readonly Exact[] | ExactMap
type ExactMap = ReadonlyMap<string, Exact>

/** `name` is that of the file, for the person who has to mend it. */
export function readExactJson(text: string, name: string, onTwice?: (key: string) => void): Exact {
  const fault = jsonFault(text)
  if (fault !== undefined) throw new CliError(`${name} is not JSON that can be read: ${fault}.`)
  const root: Exact[] = []
  const open: (Exact[] | Map<string, Exact>)[] = [root]
  let key = ''
  visit(text, {
    onObjectBegin: () => begin(new Map()),
    onArrayBegin: () => begin([]),
    onObjectEnd: () => void open.pop(),
    onArrayEnd: () => void open.pop(),
    onObjectProperty(property) {
      key = property
    },
    onLiteralValue: (value, at, length) => put(typeof value === 'number' ? text.slice(at, at + length) : value),
  })
  return root[0] ?? null

  function begin(holder: Exact[] | Map<string, Exact>): void {
    put(holder)
    open.push(holder)
  }

  function put(value: Exact): void {
    const holder = open.at(-1)
    if (Array.isArray(holder)) holder.push(value)
    else if (holder?.has(key)) {
      onTwice?.(key)
      holder.set(key, TWICE)
    } else holder?.set(key, value)
  }
}

export function isObject(value: Exact | undefined): value is ExactMap {
  return value instanceof Map
}

/** The value at a path of names; undefined if there is none, or null. All below a name that is there twice is TWICE. */
export function at(value: Exact | undefined, ...path: readonly string[]): Exact | undefined {
  let found = value
  for (const name of path) {
    if (found === TWICE) return TWICE
    found = isObject(found) ? found.get(name) : undefined
  }
  return found ?? undefined
}

export function textAt(value: Exact | undefined, ...path: readonly string[]): string | undefined {
  const found = at(value, ...path)
  return typeof found === 'string' ? found : undefined
}

export function itemsAt(value: Exact | undefined, ...path: readonly string[]): readonly Exact[] {
  const found = at(value, ...path)
  return Array.isArray(found) ? found : []
}

export function fieldsAt(value: Exact | undefined, ...path: readonly string[]): [string, Exact][] {
  const found = at(value, ...path)
  return isObject(found) ? [...found] : []
}

/** Longer numbers are no amounts, and would be work without a bound. */
const NUMBER = /^(-?)(\d{1,40})(?:\.(\d{1,60}))?(?:[eE]([+-]?\d{1,2}))?$/

/** A number as an integer with `places` implied decimals, rounded up; undefined if the text is none that an amount can be. */
export function scaledNumber(text: string | undefined, places: number): bigint | undefined {
  const match = NUMBER.exec(text ?? '')
  if (!match) return undefined
  const [, sign, whole = '', fraction = '', exponent = '0'] = match
  const digits = BigInt(`${sign}${whole}${fraction}`)
  const shift = places + Number(exponent) - fraction.length
  return shift >= 0 ? digits * 10n ** BigInt(shift) : dividedUp(digits, 10n ** BigInt(-shift))
}

/** Division of BigInts rounds towards zero, which is up for negative ones already. */
export function dividedUp(value: bigint, by: bigint): bigint {
  return value / by + (value > 0n && value % by !== 0n ? 1n : 0n)
}

/** A whole number from `least`, which is no less than 0, to `most`, however it is written; undefined if it is none. */
export function wholeNumberIn(text: string | undefined, least: number, most: number): number | undefined {
  const scaled = scaledNumber(text, 12) ?? -1n
  const whole = scaled / 10n ** 12n
  return scaled % 10n ** 12n === 0n && whole >= least && whole <= most ? Number(whole) : undefined
}

/** A moment as other programs write it: with a blank before its time, with any fraction, and in UTC if it has no zone. */
export function looseMoment(text: string): number | undefined {
  const iso = text
    .replace(/^(\S+) (?=\d)/, '$1T')
    .replace(/(\.\d{3})\d{1,6}(?!\d)/, '$1')
    .replace(/ ?UTC$/, 'Z')
    .replace(/([+-]\d\d)(\d\d)$/, '$1:$2')
  return readMoment(/T[\d:.]+$/.test(iso) ? `${iso}Z` : iso)
}
