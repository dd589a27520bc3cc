/** The steps of a path: the index of a name among the names of a program, or `listStep` of an index in a list. */
export type Path = readonly number[]

export function listStep(place: number): number {
  return ~place
}

/** The index in a list that a step leads to; undefined for one that leads to a name. */
export function placeInList(step: number): number | undefined {
  return step < 0 ? ~step : undefined
}

export type Operand =
  | { readonly kind: 'path'; readonly path: Path }
  | { readonly kind: 'value'; readonly value: number }
  | { readonly kind: 'size'; readonly of: Operand }
  | { readonly kind: 'ifNotExists'; readonly path: Path; readonly otherwise: Operand }
  | { readonly kind: 'sum' | 'difference' | 'append'; readonly left: Operand; readonly right: Operand }

export type Comparator = '=' | '<>' | '<' | '<=' | '>' | '>='

export type Condition =
  | { readonly kind: 'and' | 'or'; readonly left: Condition; readonly right: Condition }
  | { readonly kind: 'not'; readonly of: Condition }
  | { readonly kind: 'compare'; readonly comparator: Comparator; readonly left: Operand; readonly right: Operand }
  | { readonly kind: 'between'; readonly of: Operand; readonly low: Operand; readonly high: Operand }
  | { readonly kind: 'in'; readonly of: Operand; readonly options: readonly Operand[] }
  | { readonly kind: 'exists'; readonly path: Path; readonly expected: boolean }
  | { readonly kind: 'beginsWith'; readonly of: Operand; readonly part: Operand }
  | { readonly kind: 'contains'; readonly of: Operand; readonly part: Operand }
  | { readonly kind: 'type'; readonly of: Operand; readonly part: Operand }

export type Assignment = { readonly path: Path; readonly value: Operand }
/** The value of an ADD or DELETE is always one of the command's values. */
export type Change = { readonly path: Path; readonly value: Extract<Operand, { readonly kind: 'value' }> }
export type Update = {
  readonly sets: readonly Assignment[]
  readonly removes: readonly Path[]
  readonly adds: readonly Change[]
  readonly deletes: readonly Change[]
}

/** The names and values that the expressions of one command use, each with its index. */
export class Vocabulary {
  readonly names: string[] = []
  readonly values: string[] = []

  name = (token: string): number => place(this.names, token)
  value = (token: string): number => place(this.values, token)
}

function place(list: string[], token: string): number {
  const at = list.indexOf(token)
  return at >= 0 ? at : list.push(token) - 1
}
