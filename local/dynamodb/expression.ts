export type Simple =
  | { readonly kind: 'attribute'; readonly name: string }
  /** One of the command's values, by its placeholder. */
  | { readonly kind: 'value'; readonly token: string }
export type Operand = Simple | { readonly kind: 'size'; readonly of: Simple }
export type Term = Simple | { readonly kind: 'if_not_exists'; readonly name: string; readonly otherwise: Term }
export type Result = Term | { readonly kind: '+' | '-'; readonly left: Term; readonly right: Term }

export type Comparator = '=' | '<>' | '<' | '<=' | '>' | '>='
type FunctionName = 'attribute_exists' | 'attribute_not_exists' | 'begins_with' | 'contains'
export type Test = {
  readonly kind: Comparator | FunctionName | 'BETWEEN' | 'IN'
  readonly operands: readonly Operand[]
}
export type Condition =
  | { readonly kind: 'AND' | 'OR'; readonly left: Condition; readonly right: Condition }
  | { readonly kind: 'NOT'; readonly of: Condition }
  | Test

export type Change =
  | { readonly section: 'SET'; readonly name: string; readonly value: Result }
  | { readonly section: 'REMOVE'; readonly name: string }
  | { readonly section: 'ADD' | 'DELETE'; readonly name: string; readonly token: string }
