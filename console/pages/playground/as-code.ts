import { plainJson } from '../../../layers/gateway/domain/basics/plain-text.ts'
import { shellWord } from '../../../layers/gateway/domain/basics/shell-word.ts'

export type Asked = { readonly baseUrl: string; readonly body: ChatBody }

export type ChatBody = {
  readonly model: string
  readonly messages: readonly { readonly role: 'system' | 'user'; readonly content: string }[]
  readonly temperature?: number
  readonly max_tokens?: number
}

/** It has no characters that a terminal obeys when they are pasted. */
export function asCurl({ baseUrl, body }: Asked): string {
  return `curl ${shellWord(`${baseUrl}/chat/completions`)} \\
  -H "Authorization: Bearer $WAYBILL_KEY" \\
  -H 'Content-Type: application/json' \\
  -d ${shellWord(plainJson(JSON.stringify(body)))}
`
}

export function asSdkCode({ baseUrl, body }: Asked): string {
  return `import OpenAI from 'openai'

const client = new OpenAI({ baseURL: ${JSON.stringify(baseUrl)}, apiKey: process.env.WAYBILL_KEY })
const answer = await client.chat.completions.create(${JSON.stringify(body, null, 2)})
console.log(answer.choices[0].message.content)
`
}

export function asPythonCode({ baseUrl, body: { model, messages } }: Asked): string {
  return `import os
from openai import OpenAI

client = OpenAI(base_url=${JSON.stringify(baseUrl)}, api_key=os.environ["WAYBILL_KEY"])
answer = client.chat.completions.create(model=${JSON.stringify(model)}, messages=${JSON.stringify(messages)})
print(answer.choices[0].message.content)
`
}
