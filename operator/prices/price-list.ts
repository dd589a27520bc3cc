import { plainLine } from '../../layers/gateway/domain/plain-text.ts'
import { fieldsOf, readNodes } from '../reading/json-nodes.ts'
import { type Source, utf8Of } from '../reading/read-source.ts'
import { CliError } from '../terminal/cli-error.ts'
import { LIST_FORMS, type Wanted } from './forms.ts'
import { checkModel, type Listed } from './listed.ts'

/** A public list of prices that was read. */
export type PriceList = {
  readonly label: string
  readonly source: Source
  /** The model in this list, or why it is not believed; more than one if the list has prices of several regions, for example. */
  readonly look: (wanted: Wanted) => readonly (Listed | string)[]
}

/** Labels are short, and no two of them are the same. */
export function openLists(sources: readonly Source[]): readonly PriceList[] {
  const lists: PriceList[] = []
  for (const source of sources) {
    const list = openList(source)
    const same = lists.filter(({ label }) => label.replace(/ #\d+$/, '') === list.label).length
    lists.push(same === 0 ? list : { ...list, label: `${list.label} #${same + 1}` })
  }
  return lists
}

function openList(source: Source): PriceList {
  const root = readNodes(utf8Of(source), `The list ${source.name}`)
  const entries = [...fieldsOf(root).values()]
  const form = LIST_FORMS.find(({ has }) => entries.some(({ node }) => has(node)))
  if (!form) {
    const known = new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(LIST_FORMS.map(({ name }) => name))
    throw new CliError(`The list ${source.name} is not in the form of ${known}.`)
  }
  const file = plainLine(source.file, 60)
  return {
    label: form.name === 'Portkey' ? `${form.name} ${file.replace(/\.json$/, '')}` : form.name,
    source,
    look: (wanted) =>
      form
        .find(root, wanted, source.file)
        .map((entry) => (entry.kind === 'object' ? checkModel(form.read(entry, root), form.places) : NOT_ONE)),
  }
}

const NOT_ONE = 'it is there twice, or is no object'
