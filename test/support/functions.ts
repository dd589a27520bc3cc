import { type FunctionName, FUNCTIONS as OF_CALLERS } from '../../layers/gateway/endpoints.ts'

export const FUNCTION_NAMES = Object.keys(OF_CALLERS) as FunctionName[]

/** All but the tokenizer have the tables. */
export const FUNCTIONS_WITH_TABLES = [...FUNCTION_NAMES, 'sweep', 'close'] as const
export const FUNCTIONS = [...FUNCTIONS_WITH_TABLES, 'tokenizer'] as const
export type Name = (typeof FUNCTIONS)[number]

/** Functions of stages whose settings ask for them. */
export type OptionalName = 'admin' | 'probe'

/** The path of a function in the CDK's tree, in a stack. */
export function pathOfFunction(name: Name | OptionalName): string {
  return `Functions/${name.slice(0, 1).toUpperCase()}${name.slice(1)}`
}
