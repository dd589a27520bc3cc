import type * as aws from '@aws-sdk/client-bedrock-runtime'
import type { ChatRequest } from '../../domain/chat/chat.ts'
import { isObject } from '../../wire/basics/field-rules.ts'
import { chatFieldTable, readAnswerSchema, stopsOf } from '../conversation/common-fields.ts'
import { DROPPED, type FieldRow, type FieldTable, IGNORED, READ, sent, toFields } from '../conversation/field-table.ts'
import { readConversation, readToolOffer, type Tool, type ToolOffer } from '../conversation/read-conversation.ts'
import type { ChatCall } from '../provider.ts'
import { type Marked, markedBy, toMessages } from './bedrock-turns.ts'

type Document = NonNullable<aws.ConverseStreamCommandInput['additionalModelRequestFields']>

export function toConverse(call: ChatCall): aws.ConverseStreamCommandInput {
  const { chat, model, outputCap } = call
  const { body } = chat
  const more = claudeFields(chat)
  const { thinking: _, reasoning_effort: __, ...withoutThought } = body
  const { inferenceConfig, ...fields } = toFields(BEDROCK_FIELDS, more ? withoutThought : body, call)
  const marked = markedBy(call)
  const toolConfig = toToolConfig(readToolOffer(body), marked)
  const { system, turns } = readConversation(chat)
  return {
    modelId: model,
    messages: toMessages(turns, toolConfig !== undefined, call),
    ...(system.length > 0 && { system: system.flatMap((part) => marked({ text: part.text }, part)) }),
    inferenceConfig: { maxTokens: outputCap, ...(inferenceConfig as aws.InferenceConfiguration | undefined) },
    ...(toolConfig && { toolConfig }),
    ...fields,
    ...(more && { additionalModelRequestFields: more }),
  }
}

/** A request in Claude's own format is for Claude: its options of reasoning are passed in that format. */
function claudeFields({ original }: ChatRequest): Document | undefined {
  if (original?.contract !== 'messages') return undefined
  const { thinking, top_k, output_config: config } = original.body
  const effort = isObject(config) ? config.effort : undefined
  const fields = {
    ...(isObject(thinking) && { thinking }),
    ...(typeof top_k === 'number' && { top_k }),
    ...(typeof effort === 'string' && { output_config: { effort } }),
  }
  return Object.keys(fields).length > 0 ? (fields as Document) : undefined
}

/** Converse cannot forbid calls of the tools it is given; so for 'none' it is given none. */
function toToolConfig({ tools, choice }: ToolOffer, marked: Marked): aws.ToolConfiguration | undefined {
  if (tools.length === 0 || choice === 'none') return undefined
  const toolChoice = toToolChoice(choice)
  return { tools: tools.flatMap((tool) => marked(toTool(tool), tool)), ...(toolChoice && { toolChoice }) }
}

function toTool({ name, description, parameters }: Tool): aws.Tool {
  const inputSchema = { json: parameters as Document }
  return { toolSpec: { name, ...(description !== '' && { description }), inputSchema } }
}

/** 'auto' is the default, and not every model accepts a choice. */
function toToolChoice(choice: ToolOffer['choice']): aws.ToolChoice | undefined {
  if (choice === 'required') return { any: {} }
  return typeof choice === 'object' ? { tool: { name: choice.name } } : undefined
}

/** Converse cannot say that tools are called one at a time; where none may be called, nothing is lost. */
const isOneAtATime: FieldRow['drops'] = (value, { tools, tool_choice: choice }) =>
  value === false && Array.isArray(tools) && tools.length > 0 && choice !== 'none'

export const BEDROCK_FIELDS: FieldTable = chatFieldTable({
  messages: READ,
  tools: READ,
  tool_choice: READ,
  parallel_tool_calls: { drops: isOneAtATime },
  reasoning_effort: DROPPED,
  // OpenAI's scale goes to 2, Converse's ends at 1.
  temperature: sent('inferenceConfig.temperature', (value) => Math.min(1, value as number)),
  top_p: sent('inferenceConfig.topP'),
  stop: sent('inferenceConfig.stopSequences', stopsOf),
  response_format: sent('outputConfig', toOutputConfig),
  top_k: IGNORED,
  user: IGNORED,
  safety_identifier: IGNORED,
})

function toOutputConfig(format: unknown): aws.OutputConfig | undefined {
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
