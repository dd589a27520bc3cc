import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { describe, expect, test } from '@jest/globals'
import { type AIMessageChunk, type BaseMessage, HumanMessage } from '@langchain/core/messages'
import { tool as langchainTool, type StructuredToolInterface } from '@langchain/core/tools'
import { concat } from '@langchain/core/utils/stream'
import { ChatOpenAI } from '@langchain/openai'
import { Agent, tool as agentTool, OpenAIProvider, Runner } from '@openai/agents'
import { generateText, isStepCount, streamText, tool } from 'ai'
import OpenAI from 'openai'
import { z } from 'zod'
import { closedBooks } from '../robust/support/exchange.ts'
import { ANSWER, DIALECTS, QUESTION } from './support/dialects.ts'

const WEATHER = { description: 'Weather', schema: z.object({ city: z.string() }) }
const TIME = { description: 'Time', schema: z.object({ zone: z.string().optional() }) }
const tellWeather = ({ city }: z.infer<typeof WEATHER.schema>) => `${city}: 21 degrees`
const tellTime = ({ zone = 'UTC' }: z.infer<typeof TIME.schema>) => `12:00 ${zone}`

type Access = { readonly baseURL: string; readonly apiKey: string }
/** Runs a tool loop to its end, as the client's documentation shows it, whole or streamed, and returns the final text. */
type Client = (access: Access, stream: boolean) => Promise<string>

const vercel = (requestFor: typeof vercelRequest): Client => {
  return async (access, stream) =>
    (stream ? streamText(requestFor(access)) : await generateText(requestFor(access))).text
}

const CLIENTS: Readonly<Record<string, Client>> = {
  'the Vercel AI SDK': vercel(vercelRequest),
  'the Vercel AI SDK’s OpenAI provider': vercel(openaiRequest),
  'the OpenAI Agents SDK': async (access, stream) => {
    if (!stream) return String((await runnerFor(access).run(AGENT, QUESTION)).finalOutput)
    const result = await runnerFor(access).run(AGENT, QUESTION, { stream })
    await result.completed
    return String(result.finalOutput)
  },
  'the openai SDK with runTools': runOpenai,
  LangChain: (access, stream) =>
    runLangchain(access, async (model, messages) => {
      if (!stream) return model.invoke(messages)
      const pieces = await Array.fromAsync(await model.stream(messages))
      return pieces.reduce((sum, piece) => concat(sum, piece))
    }),
}
const WAYS = Object.entries(CLIENTS).flatMap(([name, run]) =>
  [false, true].map((stream) => [name, stream, run] as const),
)

describe.each(Object.entries(DIALECTS))('the %s dialect', (name, dialect) => {
  const opened = dialect.open()

  test.each(WAYS)(
    `a tool loop over the ${name} dialect runs to its final answer through %s (stream: %s)`,
    async (_, stream, run) => {
      const { gateway, requests, beginLoop } = await opened
      beginLoop()
      const { key, secret } = await gateway.issue()
      expect(await run({ baseURL: `${gateway.baseUrl}/v1`, apiKey: secret }, stream)).toBe(ANSWER)

      expect(requests.map(({ body }) => dialect.conversationIn(body))).toEqual(dialect.conversations)
      for (const { body } of requests) expect(body).toMatchObject(dialect.offer)

      const rows = await closedBooks(gateway, key.id)
      const row = { outcome: 'completed', httpStatus: 200, usageSource: 'upstream', provider: dialect.provider, stream }
      expect(rows.reverse()).toMatchObject(dialect.costs.map((cost) => ({ ...row, cost })))
    },
  )
})

async function runOpenai(access: Access, stream: boolean): Promise<string> {
  const toolOf = <Args extends object>(
    name: string,
    { description, schema }: { description: string; schema: z.ZodType<Args> },
    run: (args: Args) => string,
  ) => ({
    type: 'function' as const,
    function: {
      name,
      description,
      parameters: z.toJSONSchema(schema) as Record<string, unknown>,
      parse: JSON.parse,
      function: (args: object) => run(args as Args),
    },
  })
  const request = {
    model: 'test-model',
    messages: [{ role: 'user' as const, content: QUESTION }],
    tools: [toolOf('get_weather', WEATHER, tellWeather), toolOf('get_time', TIME, tellTime)],
  }
  const { completions } = new OpenAI({ ...access, maxRetries: 0 }).chat
  const runner = stream ? completions.runTools({ ...request, stream }) : completions.runTools(request)
  return (await runner.finalContent()) ?? ''
}

function vercelRequest(access: Access) {
  return {
    model: createOpenAICompatible({ name: 'waybill', includeUsage: true, ...access })('test-model'),
    prompt: QUESTION,
    tools: {
      get_weather: tool({ description: WEATHER.description, inputSchema: WEATHER.schema, execute: tellWeather }),
      get_time: tool({ description: TIME.description, inputSchema: TIME.schema, execute: tellTime }),
    },
    stopWhen: isStepCount(3),
  }
}

/** Earlier turns are sent again, and not referred to, as docs/clients.md says. */
function openaiRequest(access: Access) {
  return {
    ...vercelRequest(access),
    model: createOpenAI(access)('test-model'),
    providerOptions: { openai: { store: false } },
  }
}

const AGENT = new Agent({
  name: 'Guide',
  model: 'test-model',
  tools: [
    agentTool({
      name: 'get_weather',
      description: WEATHER.description,
      parameters: WEATHER.schema,
      execute: (args) => tellWeather(args),
    }),
    agentTool({
      name: 'get_time',
      description: TIME.description,
      parameters: {
        type: 'object',
        properties: { zone: { type: 'string' } },
        required: [],
        additionalProperties: true,
      },
      strict: false,
      execute: (args) => tellTime(args as z.infer<typeof TIME.schema>),
    }),
  ],
})

function runnerFor({ baseURL, apiKey }: Access): Runner {
  return new Runner({ modelProvider: new OpenAIProvider({ baseURL, apiKey }), tracingDisabled: true })
}

const LANGCHAIN_TOOLS: StructuredToolInterface[] = [
  langchainTool(tellWeather, { name: 'get_weather', ...WEATHER }),
  langchainTool(tellTime, { name: 'get_time', ...TIME }),
]

function openLangchain({ baseURL, apiKey }: Access) {
  return new ChatOpenAI({ model: 'test-model', apiKey, configuration: { baseURL } }).bindTools(LANGCHAIN_TOOLS)
}

type Ask = (model: ReturnType<typeof openLangchain>, messages: BaseMessage[]) => Promise<AIMessageChunk>

async function runLangchain(access: Access, ask: Ask): Promise<string> {
  const model = openLangchain(access)
  const messages: BaseMessage[] = [new HumanMessage(QUESTION)]
  for (;;) {
    const answer = await ask(model, messages)
    if (!answer.tool_calls?.length) return answer.text
    messages.push(answer)
    for (const call of answer.tool_calls) {
      const called = LANGCHAIN_TOOLS.find(({ name }) => name === call.name)
      messages.push(await called?.invoke({ ...call, type: 'tool_call' }))
    }
  }
}
