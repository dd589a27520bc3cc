import type { OutputConfig } from '@aws-sdk/client-bedrock-runtime'
import { chatFieldTable } from '../conversation/common-fields.ts'
import { type FieldRow, type FieldTable, IGNORED, READ, sent } from '../conversation/field-table.ts'
import { readAnswerSchema } from '../conversation/read-answer-schema.ts'
import { numberOf, stopsOf } from '../conversation/sent-values.ts'

/** Converse cannot say that tools are called one at a time; where none may be called, nothing is lost. */
const parallelCalls: FieldRow['refuses'] = (value, { tools, tool_choice: choice }) =>
  value === false && Array.isArray(tools) && tools.length > 0 && choice !== 'none'
    ? 'must be true: this model may call several tools at once'
    : undefined

const HIGHEST_TEMPERATURE = 1

/** The fields of Chat Completions, and what they become in Converse. Each model has its own ways to think there. */
export const BEDROCK_FIELDS: FieldTable = chatFieldTable({
  messages: READ,
  tools: READ,
  tool_choice: READ,
  parallel_tool_calls: { refuses: parallelCalls },
  reasoning_effort: { refuses: () => 'must be left out: how hard this model thinks cannot be chosen' },
  // OpenAI's scale goes to 2, Converse's ends at 1.
  temperature: sent('inferenceConfig.temperature', (value) =>
    typeof value === 'number' ? Math.min(value, HIGHEST_TEMPERATURE) : undefined,
  ),
  top_p: sent('inferenceConfig.topP', numberOf),
  stop: sent('inferenceConfig.stopSequences', stopsOf),
  response_format: sent('outputConfig', toOutputConfig),
  top_k: IGNORED,
  user: IGNORED,
  safety_identifier: IGNORED,
})

function toOutputConfig(format: unknown): OutputConfig | undefined {
  const wanted = readAnswerSchema(format)
  if (!wanted) return undefined
  const { name, description, schema } = wanted
  const jsonSchema = {
    schema: JSON.stringify(schema),
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description }),
  }
  return { textFormat: { type: 'json_schema', structure: { jsonSchema } } }
}
