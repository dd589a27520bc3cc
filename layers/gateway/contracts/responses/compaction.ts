import type { JsonObject } from '../../domain/basics/json-object.ts'
import type { ChatRequest } from '../../domain/chat/chat.ts'
import { copied, isText } from '../../wire/basics/field-rules.ts'
import { promptText } from '../../wire/chat/prompt-text.ts'
import type { JsonBody } from '../../wire/requests/read-body.ts'
import type { AnswerBuilder, AnswerHead } from '../contract.ts'
import { notTaken } from './own-words.ts'
import { readRequest } from './read-request.ts'
import { inSeconds, shownUsage } from './response-object.ts'
import { packSummary } from './summaries.ts'

/** The request to a model whose provider has no compaction of its own. */
const INSTRUCTION = `Write a summary of the conversation above for a model that will continue it without seeing it. Include:
- what the user wants, with every constraint and preference that still applies;
- what was done and decided, and why;
- the facts, names, file paths, commands and values that are needed again;
- the current state, open problems and the next steps.
Be complete and brief. Reply with the summary only.`

/** Fields of the request that do not depend on the format of the conversation. */
const KEPT = ['prompt_cache_key', 'safety_identifier', 'user', 'service_tier', 'reasoning_effort']

/** A request for a compaction. Its inner form asks for a summary; a provider of Responses compacts the original. */
export function readCompaction(json: JsonBody): ChatRequest {
  const read = readRequest(json)
  if (read.stream) throw notTaken('stream', 'must be false: a compaction is not streamed')
  const messages = [...(read.body.messages as JsonObject[]).map(plainMessage), { role: 'user', content: INSTRUCTION }]
  return {
    ...read,
    compacts: true,
    toolCount: 0,
    hosted: [],
    messageCount: read.messageCount + 1,
    bytes: read.bytes + INSTRUCTION.length,
    body: { model: read.model, messages, stream: false, ...copied(read.body, KEPT) },
  }
}

/** Calls and results are text: several formats refuse them in a request without the tools. */
function plainMessage({ role, content, tool_calls, tool_call_id }: JsonObject): JsonObject {
  if (role !== 'tool' && !tool_calls) return { role, content }
  const text = promptText({ messages: [{ tool_call_id, content, tool_calls }] })
  return role === 'tool' ? { role: 'user', content: `Tool result: ${text}` } : { role, content: text }
}

/** The answer to such a request: a provider's own output, or the user's messages and the summary. */
export function compactionBuilder({ requestId, nowMs, chat }: AnswerHead): AnswerBuilder {
  let summary = ''
  let native: unknown
  const id = requestId.replace('req_', '')
  return {
    get chars() {
      return summary.length
    },
    add({ delta }) {
      if (isText(delta.content)) summary += delta.content
      native ??= delta.compaction
    },
    cut() {},
    build: (usage) => ({
      id: `resp_${id}`,
      object: 'response.compaction',
      created_at: inSeconds(nowMs),
      output: native ?? [
        ...userMessages(chat, id),
        { type: 'compaction', id: `cmp_${id}`, encrypted_content: packSummary(summary || transcriptOf(chat)) },
      ],
      usage: shownUsage(usage),
    }),
  }
}

/** Without a summary nothing may be lost. */
function transcriptOf({ body }: ChatRequest): string {
  return promptText({ messages: (body.messages as JsonObject[]).slice(0, -1) })
}

function userMessages({ raw: { input } }: ChatRequest, id: string): JsonObject[] {
  const items = typeof input === 'string' ? [{ role: 'user', content: input }] : (input as JsonObject[])
  return items
    .filter(({ role }) => role === 'user')
    .map(({ content }, index) => ({
      type: 'message',
      id: `msg_${id}_${index}`,
      status: 'completed',
      role: 'user',
      content: typeof content === 'string' ? [{ type: 'input_text', text: content }] : content,
    }))
}
