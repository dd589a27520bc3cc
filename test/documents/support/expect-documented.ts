import { expect } from '@jest/globals'
import { dataOf, framesOf } from '../../sdk/support/read-chunks.ts'
import { checkerOf, type DocumentedAnswer, openApi } from './openapi.ts'

const { components } = openApi

/** Every header that the gateway writes; others are the HTTP server's. */
const OURS = /^(x-|ratelimit-|retry-after$|allow$)/

/** The answer is one that the document has for this status: its headers, its type and its body. */
export async function expectDocumented(response: Response, documented: DocumentedAnswer | undefined): Promise<unknown> {
  if (!documented) throw new Error(`status ${response.status} is not documented`)
  const named = Object.keys(documented.headers ?? {}).map((name) => name.toLowerCase())
  const sent = [...response.headers.keys()].filter((name) => OURS.test(name) && name !== 'x-accel-buffering')
  expect(named).toEqual(expect.arrayContaining(sent))
  for (const [name, { required, schema }] of Object.entries(components.headers)) {
    const value = response.headers.get(name)
    if (required) expect(value).not.toBeNull()
    if (value !== null) checkerOf(schema).parse(value)
  }
  const type = response.headers.get('content-type')?.split(';')[0] ?? ''
  expect(Object.keys(documented.content)).toContain(type)
  const schema = documented.content[type]?.schema ?? {}
  if (type !== 'text/event-stream') {
    const body = (await response.json()) as { error?: { code?: string } }
    checkerOf(schema).parse(body)
    const { code } = body.error ?? {}
    if (code && !documented.description.includes("the upstream's own"))
      expect(documented.description).toContain(`\`${code}\``)
    return body
  }
  const frames = framesOf(await response.text())
  const events = frames
    .filter((frame) => !frame.startsWith(':') && frame !== 'data: [DONE]')
    .map((frame) => dataOf(frame.replace(/^event: .*\n/, '')))
  for (const value of events) checkerOf(schema).parse(value)
  return events
}
