import type { JsonObject } from '../../../layers/gateway/domain/basics/json-object.ts'
import * as anthropic from '../../providers/anthropic/anthropic-fixtures.ts'
import * as bedrock from '../../providers/bedrock/bedrock-upstream.ts'
import * as responses from '../../providers/responses/responses-upstream.ts'
import { closeAfterwards, openUpstream } from '../../support/stack.ts'
import { chunk, DONE, type Reply, sse, status, USAGE, usageChunk } from '../../support/upstream.ts'
import { faultOf, type RequestName, SEAL } from './strict.ts'

export type Tool = {
  readonly name: string
  readonly type: string
  readonly namespace?: string | undefined
  /** The first field of its input. */
  readonly field: string
}
/** A model's response: a text, which may be cut at the output cap, or the call of a tool. */
export type Turn = { readonly text: string; readonly isCut?: boolean } | Call
type Call = { readonly id: string; readonly tool: Tool; readonly input: object | string }
/** The model behind an upstream: it decides on the text of a request and the tools in it. */
export type Model = (request: string, tools: readonly Tool[]) => Turn

/** Every tool in a request, wherever it stands: in a namespace, in an item or in a result. */
function toolsIn(value: unknown, namespace?: string): Tool[] {
  if (typeof value !== 'object' || value === null) return []
  const { type = Array.isArray(value) ? 'list' : 'function', name, ...rest } = value as JsonObject
  const schema = (rest.parameters ?? rest.input_schema ?? rest.inputSchema) as { json?: JsonObject } | undefined
  if (type === 'tool_search') return [{ name: 'tool_search', type, field: '' }]
  if (typeof name !== 'string' || (!schema && !rest.format)) {
    return Object.values(rest).flatMap((each) => toolsIn(each, type === 'namespace' ? String(name) : namespace))
  }
  const [field = ''] = Object.keys((schema?.json ?? (schema as JsonObject))?.properties ?? {})
  return [{ name, type: schema ? 'function' : 'custom', namespace, field }]
}

function turnOf(name: RequestName, model: Model, body: JsonObject): Turn | { readonly fault: string } {
  const fault = faultOf(name, body)
  if (fault !== undefined) return { fault }
  return model(JSON.stringify(body), toolsIn([body.tools, body.toolConfig, body.input]))
}

/** A custom tool that became a function takes its text in a field. */
const argumentsOf = ({ tool, input }: Call) =>
  JSON.stringify(typeof input === 'string' ? { [tool.field]: input } : input)

type Kind = { readonly provider: object; open(model: Model): Promise<string> }

/** An upstream of each kind, which refuses what the real one refuses, and how it says a turn. */
export const UPSTREAMS: Readonly<Record<string, Kind>> = {
  'chat completions': {
    provider: { type: 'openai' },
    open: (model) =>
      openHttp((body) => {
        const turn = turnOf('chat', model, body)
        if ('fault' in turn) return refusal(turn.fault)
        if ('text' in turn) {
          const words = chunk({ role: 'assistant', content: turn.text })
          return sse([words, chunk({}, turn.isCut ? 'length' : 'stop'), usageChunk(USAGE), DONE])
        }
        const { id, tool, input } = turn
        const { name, type } = tool
        const called = type === 'custom' ? { name, input } : { name, arguments: argumentsOf(turn) }
        const call = chunk({ role: 'assistant', tool_calls: [{ index: 0, id, type, [type]: called }] })
        return sse([call, chunk({}, 'tool_calls'), usageChunk(USAGE), DONE])
      }),
  },
  Responses: {
    provider: { type: 'openai', contract: 'responses' },
    open: (model) =>
      openHttp((body) => {
        const turn = turnOf('responses', model, body)
        if ('fault' in turn) return refusal(turn.fault)
        const thought = responses.thought('rs_1', SEAL, 'I see.')
        if ('text' in turn) {
          const cut = turn.isCut && { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }
          return responses.answering([thought, { ...responses.message(turn.text), phase: 'final_answer' }], cut || {})
        }
        const { id, tool, input } = turn
        const { name, type, namespace } = tool
        const said: Readonly<Record<string, () => { readonly type: string }>> = {
          function: () => responses.call(id, name, argumentsOf(turn)),
          custom: () => responses.customCall(id, name, String(input)),
          tool_search: () => ({ type: 'tool_search_call', call_id: id, execution: 'client', arguments: input }),
        }
        const call = { type, ...said[type]?.(), id: 'item_1', status: 'completed' }
        return responses.answering([thought, { ...call, ...(namespace && { namespace }) }])
      }),
  },
  Messages: {
    provider: { type: 'anthropic' },
    open: (model) =>
      openHttp((body, isBeta) => {
        const turn = turnOf(isBeta ? 'beta' : 'messages', model, body)
        if ('fault' in turn) return refusal(turn.fault)
        const thought = body.thinking ? anthropic.thinkingBlock(0, 'I see.') : []
        const at = body.thinking ? 1 : 0
        const said =
          'text' in turn
            ? anthropic.textBlock(at, turn.text)
            : anthropic.toolBlock(at, turn.id, turn.tool.name, argumentsOf(turn))
        return anthropic.stream(anthropic.start(), ...thought, ...said, ...anthropic.ending(stopOf(turn)))
      }),
  },
  Bedrock: {
    provider: { type: 'bedrock', region: 'us-east-1' },
    async open(model) {
      const upstream = await openBedrock()
      upstream.reply = (stream, request) => {
        const turn = turnOf('bedrock', model, request.body)
        if ('fault' in turn) return bedrock.refuse(400, 'ValidationException', turn.fault)(stream, request)
        const said =
          'text' in turn
            ? [bedrock.text(turn.text), bedrock.endBlock()]
            : bedrock.callTool(0, turn.id, turn.tool.name, argumentsOf(turn))
        const events = [bedrock.START, ...said, bedrock.stop(stopOf(turn)), bedrock.metadata()]
        return bedrock.frames(...events)(stream, request)
      }
      return upstream.url
    },
  },
}

let bedrockUpstream: bedrock.BedrockUpstream | undefined

/** One for all tests: AWS's SDK keeps the address of its first call. */
async function openBedrock(): Promise<bedrock.BedrockUpstream> {
  bedrockUpstream ??= closeAfterwards(await bedrock.startBedrock())
  bedrock.pointSdkAt(bedrockUpstream.url)
  return bedrockUpstream
}

/** As Anthropic and Bedrock name it. */
const stopOf = (turn: Turn) => ('id' in turn ? 'tool_use' : turn.isCut ? 'max_tokens' : 'end_turn')

async function openHttp(reply: (body: JsonObject, isBeta: boolean) => Reply): Promise<string> {
  const upstream = await openUpstream((response, request) =>
    reply(request.body, 'anthropic-beta' in request.headers)(response, request),
  )
  return upstream.url
}

const refusal = (message: string) =>
  status(400, { type: 'error', error: { message, type: 'invalid_request_error', code: null } })
