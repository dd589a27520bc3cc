import { z } from 'zod'

/** A text that is not empty. */
export const name = (words: string) => z.string().min(1).describe(words)
export const size = (words: string) => z.int().min(0).describe(words)
export const list = <Item extends z.ZodType>(item: Item, words: string) => z.array(item).describe(words)
/** An object of which the document says no more. */
export const open = (words: string) => z.looseObject({}).describe(words)

/** The references of those whose contracts these are. */
const REFERENCES = {
  OpenAI: 'https://platform.openai.com/docs/api-reference',
  Anthropic: 'https://docs.anthropic.com/en/api',
}

/** Marks a schema of whose fields only ours are described here; the reference of its maker has the rest. */
export function describedBy(maker: keyof typeof REFERENCES, page: string) {
  return { externalDocs: { description: `${maker}’s reference`, url: `${REFERENCES[maker]}/${page}` } }
}
