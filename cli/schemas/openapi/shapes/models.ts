import { z } from 'zod'
import { kind, text } from '../../../../layers/admin/api/shapes/parts.ts'
import { Pricing } from '../../../../layers/admin/api/shapes/usage-record.ts'
import { CONTRACTS } from '../../../../layers/gateway/endpoints.ts'
import { list, size } from '../contracts/parts.ts'

export const Model = z
  .object({
    id: text('The id by which the model is asked.'),
    object: kind('model'),
    created: size('The Unix time of the model, in seconds.'),
    owned_by: text('The maker of the model.'),
    name: text('The name of the model, for people.'),
    kind: z.enum(['chat', 'embedding']).describe('Chat answers in words, embedding in vectors.'),
    contracts: list(z.enum(CONTRACTS), 'The contracts in which it can be asked.'),
    context_length: size('The most tokens of prompt and answer together.'),
    max_output_tokens: size('The most tokens of an answer; 0 for an embedding model.'),
    dimensions: z.int().min(1).describe('Numbers in a vector; of an embedding model only.').optional(),
    pricing: Pricing.describe('Its price, in credits.'),
  })
  .describe('A model of the catalog.')

export const ModelList = z
  .object({ object: kind('list'), data: list(Model, 'The active models.') })
  .describe('All models that can be asked.')
