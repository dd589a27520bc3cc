import type { JsonObject } from '../../domain/basics/json-object.ts'

const STATUSES: ReadonlySet<number> = new Set([400, 403, 404])

/** The providers' codes for it: OpenAI and Groq, Groq, Azure, Mistral, Together. */
const NAMES: ReadonlySet<unknown> = new Set([
  'model_not_found',
  'model_decommissioned',
  'DeploymentNotFound',
  'invalid_model',
  'model_not_available',
])

/** Complete messages of providers that have no code for it: vLLM and others, Ollama, Anthropic, OpenRouter, Google. */
const MESSAGES: readonly ((model: string) => RegExp)[] = [
  (model) => RegExp(`^The model:? \`${model}\` does not exist( or you do not have access to it)?\\.?$`),
  (model) => RegExp(`^model ["']${model}["'] not found(, try pulling it first)?$`),
  (model) => RegExp(`^model: ${model}$`),
  (model) => RegExp(`^${model} is not a valid model ID$`),
  (model) =>
    RegExp(`^models/${model} is not found for API version \\w+, or is not supported for \\w+\\. Call ListModels`),
]

/**
 * True if an upstream reports that it does not have the route's model. Its message may quote the caller, and a field of
 * the request may name a model too: so a code must not be about another field, and a message must match from its start
 * and name the route's own model, which no caller chooses.
 */
export function isMissingModel(status: number, { code, type, param, message }: JsonObject, model: string): boolean {
  if (!STATUSES.has(status)) return false
  const isAboutModel = param === undefined || param === null || param === 'model'
  if (isAboutModel && (NAMES.has(code) || NAMES.has(type))) return true
  if (typeof message !== 'string') return false
  return MESSAGES.some((sentenceOf) => sentenceOf(RegExp.escape(model)).test(message.trim()))
}
