// A file of its own beside chat's code: loaded when a catalog first names a provider of one of these dialects.
export { anthropicProvider } from './anthropic/anthropic-provider.ts'
export { bedrockProvider } from './bedrock/bedrock-provider.ts'
export { signAsRole } from './http/sign-as-role.ts'
export { readEmbedding } from './openai/openai-embeddings.ts'
export { responsesProvider } from './responses/responses-provider.ts'
