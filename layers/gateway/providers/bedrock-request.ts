import type {
  ConverseStreamCommandInput,
  InferenceConfiguration,
  OutputConfig,
  Tool,
  ToolChoice,
  ToolConfiguration,
} from '@aws-sdk/client-bedrock-runtime'
import type { ChatBody } from '../domain/chat.ts'
import { isObject } from '../wire/field-rules.ts'
import { invalid, unsupported } from './bedrock-failure.ts'
import { toConversation } from './bedrock-messages.ts'
import type { ChatCall } from './provider.ts'

type Document = NonNullable<ConverseStreamCommandInput['additionalModelRequestFields']>

/**
 * OpenAI's request in Converse's terms. What Converse has no word for and does not change what an answer is (seed,
 * penalties, user, …) stays behind; what does is refused in words.
 */
export function toConverse({ request, model, outputCap }: ChatCall): ConverseStreamCommandInput {
  const { body } = request
  if (request.choices > 1) throw unsupported('n', "more than one choice: 'n' must be 1")
  if (body.functions) throw unsupported('functions', "'functions': use 'tools'")
  if (body.logprobs === true) throw unsupported('logprobs', 'log probabilities')
  const toolConfig = toToolConfig(body)
  const { system, messages } = toConversation(body.messages, toolConfig !== undefined)
  const outputConfig = toOutputConfig(body.response_format)
  return {
    modelId: model,
    messages,
    ...(system.length > 0 && { system }),
    inferenceConfig: toInferenceConfig(body, outputCap),
    ...(toolConfig && { toolConfig }),
    ...(outputConfig && { outputConfig }),
  }
}

const HIGHEST_TEMPERATURE = 1

function toInferenceConfig({ temperature, top_p, stop }: ChatBody, maxTokens: number): InferenceConfiguration {
  const stopSequences = [stop].flat().filter((text): text is string => typeof text === 'string' && text !== '')
  return {
    maxTokens,
    // OpenAI's scale goes to 2, Converse's ends at 1.
    ...(typeof temperature === 'number' && { temperature: Math.min(temperature, HIGHEST_TEMPERATURE) }),
    ...(typeof top_p === 'number' && { topP: top_p }),
    ...(stopSequences.length > 0 && { stopSequences }),
  }
}

/** Converse cannot say that the tools named may not be called; so for 'none' they are not named. */
function toToolConfig({ tools, tool_choice: wanted }: ChatBody): ToolConfiguration | undefined {
  if (!Array.isArray(tools) || tools.length === 0 || wanted === 'none') return undefined
  const toolChoice = toToolChoice(wanted)
  return { tools: tools.map(toTool), ...(toolChoice && { toolChoice }) }
}

function toTool(tool: unknown, position: number): Tool {
  const at = `tools[${position}]`
  if (!isObject(tool) || tool.type !== 'function') throw unsupported(at, `tools other than functions ('${at}')`)
  const { name, description, parameters } = isObject(tool.function) ? tool.function : {}
  if (typeof name !== 'string') throw invalid(`${at}.function.name`, 'a string')
  const json = { type: 'object', properties: {}, ...(isObject(parameters) && parameters) } as Document
  return {
    toolSpec: {
      name,
      ...(typeof description === 'string' && description !== '' && { description }),
      inputSchema: { json },
    },
  }
}

/** 'auto' is the default, and not every model takes a choice. */
function toToolChoice(wanted: unknown): ToolChoice | undefined {
  if (wanted === undefined || wanted === null || wanted === 'auto') return undefined
  if (wanted === 'required') return { any: {} }
  const named = isObject(wanted) && wanted.type === 'function' && isObject(wanted.function) ? wanted.function.name : ''
  if (typeof named === 'string' && named !== '') return { tool: { name: named } }
  throw invalid('tool_choice', "'none', 'auto', 'required' or the name of a function")
}

function toOutputConfig(format: unknown): OutputConfig | undefined {
  if (!isObject(format) || format.type === 'text') return undefined
  const { schema, name, description } = isObject(format.json_schema) ? format.json_schema : {}
  if (format.type !== 'json_schema' || !isObject(schema)) {
    throw unsupported('response_format', "a 'response_format' other than 'json_schema' with its schema")
  }
  const jsonSchema = {
    schema: JSON.stringify(schema),
    ...(typeof name === 'string' && { name }),
    ...(typeof description === 'string' && { description }),
  }
  return { textFormat: { type: 'json_schema', structure: { jsonSchema } } }
}
