import { createInterface } from 'node:readline'

// A server of the Model Context Protocol with many tools, so that agents search them. One of them rings.

const tools = [...Array(40).keys(), 'ring'].map((name) => ({
  name: typeof name === 'number' ? `spare_${name}` : name,
  description: name === 'ring' ? 'Rings the bell.' : `Does nothing, in the way of number ${name}.`,
  inputSchema: { type: 'object', properties: { times: { type: 'number' } } },
}))

const RESULTS: Readonly<Record<string, object>> = {
  initialize: {
    protocolVersion: '2025-06-18',
    capabilities: { tools: {} },
    serverInfo: { name: 'tiny', version: '1' },
  },
  'tools/list': { tools },
  'tools/call': { content: [{ type: 'text', text: 'Ding.' }] },
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method } = JSON.parse(line)
  if (id !== undefined)
    process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result: RESULTS[method] ?? {} })}\n`)
}
