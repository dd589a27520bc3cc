import type OpenAI from 'openai'

type Message = { readonly role: 'user'; readonly content: string }
export type Called = readonly [name: string, args: object]

/** The openai SDK's own tool loop over tools that give these results, up to the final answer. */
export async function runTools(client: OpenAI, question: Message, results: Record<string, object>, stream: boolean) {
  const called: Called[] = []
  const tools = Object.entries(results).map(([name, result]) => ({
    type: 'function' as const,
    function: {
      name,
      description: name,
      parameters: { type: 'object', properties: {} },
      parse: JSON.parse,
      function: (args: object) => {
        called.push([name, args])
        return result
      },
    },
  }))
  const request = { model: 'test-model', messages: [question], tools }
  const runner = stream
    ? client.chat.completions.runTools({ ...request, stream: true })
    : client.chat.completions.runTools(request)
  return { answer: await runner.finalContent(), called }
}
