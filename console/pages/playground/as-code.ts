type Asked = { readonly baseUrl: string; readonly model: string; readonly message: string }

/** For a shell, which takes text in single quotes literally. */
export function asCurl({ baseUrl, model, message }: Asked): string {
  const body = JSON.stringify({ model, messages: [{ role: 'user', content: message }] })
  return `curl ${quoted(`${baseUrl}/chat/completions`)} \\
  -H "Authorization: Bearer $WAYBILL_KEY" \\
  -H 'Content-Type: application/json' \\
  -d ${quoted(body)}
`
}

export function asSdkCode({ baseUrl, model, message }: Asked): string {
  return `import OpenAI from 'openai'

const client = new OpenAI({ baseURL: ${JSON.stringify(baseUrl)}, apiKey: process.env.WAYBILL_KEY })
const answer = await client.chat.completions.create({
  model: ${JSON.stringify(model)},
  messages: [{ role: 'user', content: ${JSON.stringify(message)} }],
})
console.log(answer.choices[0].message.content)
`
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
