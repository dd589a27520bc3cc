import { fail, type StoredItem } from './ledger.ts'

type Models = readonly { readonly price: { readonly input: string } }[]

/** Knows by itself the versions of the catalog, each pushed once and never changed, and the prices of each. */
export class CatalogBooks {
  readonly #versions = new Map<number, string>()
  readonly #factors = new Map<number, bigint>()
  readonly #events = new Map<string, StoredItem>()
  #inForce = { number: 0, text: '' }
  /** The version by which the gateway learns of a push. */
  head = 0

  get pushes(): number {
    return this.#versions.size
  }

  /** An item of the history. */
  versionWritten({ version, catalog }: StoredItem): void {
    const [number, text] = [version as number, JSON.stringify(catalog)]
    const before = this.#versions.get(number)
    if (before !== undefined && before !== text) fail(`version ${number} of the catalog was changed`)
    this.#versions.set(number, text)
    const [model] = (catalog as { models: Models }).models
    this.#factors.set(number, BigInt(model?.price.input ?? 0))
  }

  /** The catalog in force as a write has left it; one that is sent again leaves it as it is. */
  inForceWritten({ version, catalog }: StoredItem): void {
    const [number, text] = [version as number, JSON.stringify(catalog)]
    if (number !== this.#inForce.number && number !== this.#inForce.number + 1) {
      fail(`version ${version} of the catalog came after ${this.#inForce.number}`)
    }
    if (number === this.#inForce.number && text !== this.#inForce.text)
      fail(`the catalog ${number} in force was changed`)
    this.#inForce = { number, text }
  }

  eventWritten(item: StoredItem): void {
    this.#events.set(item.sk as string, item)
  }

  /** Every price of a version is so many times that of the first. */
  factorOf(version: number): bigint {
    return this.#factors.get(version) ?? fail(`nobody pushed version ${version} of the catalog`)
  }

  /** Each version has one event, and each event its version. */
  atRest(): void {
    const { number, text } = this.#inForce
    if (this.head !== number) fail(`the catalog ${number} is in force, and ${this.head} is told`)
    if (this.#versions.get(number) !== text) fail(`the catalog ${number} in force is not that of the history`)
    const pushed = [...this.#events.values()].map(({ after }) => (after as { version: number }).version)
    const versions = [...this.#versions.keys()]
    if (pushed.sort(byNumber).join() !== versions.sort(byNumber).join()) {
      fail(`the catalog has the versions ${versions}, and events of ${pushed}`)
    }
  }
}

function byNumber(a: number, b: number): number {
  return a - b
}
