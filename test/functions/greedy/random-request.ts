import type { MediaKind } from '../../../layers/gateway/domain/routing/catalog.ts'
import type { ContractName } from '../../../layers/gateway/endpoints.ts'
import type { Random } from '../../simulation/random.ts'

type Json = Record<string, unknown>

const WORDS = [
  ...['wombat', ' the', '漢字', 'žluť', '👨‍👩‍👧', '\n\n', '{"a":1}', 'ﷺ', '\u0958', '\u{1d160}', 'ǘ\u0323', '㍿½ำ'],
  ...['\u0000', '1e20', '"', '\\', 'x'.repeat(40)],
]
const NUMBERS = [0, 1e20, 1e-6, 2e3, -5e3, 123456789, 0.1]

/** Data that providers take, by what they are, whatever they are called. */
export const DATA: Readonly<Record<string, { readonly base64: string; readonly kinds: readonly MediaKind[] }>> = {
  png: { base64: 'iVBORw0KGgoAAAANSUhEUgAAAAE=', kinds: ['image'] },
  gif: { base64: 'R0lGODlhAQABAAAAACw=', kinds: ['image'] },
  pdf: { base64: 'JVBERi0xLjQKJcOkw7zDtsOf', kinds: ['file'] },
  zip: { base64: 'UEsDBBQAAAAIAA==', kinds: ['file'] },
  mp4: { base64: 'AAAAHGZ0eXBpc29tAAACAGlzb20=', kinds: ['video'] },
  wav: { base64: 'UklGRiQAAABXQVZFZm10IBAAAAA=', kinds: ['audio'] },
  pngWithPdf: { base64: 'iVBORw0KGgoAAAANSUhEUiVQREYtMS40Cg==', kinds: ['image', 'file'] },
  filmOfPictures: { base64: 'AAAAHGZ0eXBtc2YxAAAAAG1pZjE=', kinds: ['image', 'video'] },
  unknown: { base64: 'AAECAwQFBgcICQ==', kinds: ['image', 'audio', 'video', 'file'] },
}
const data = (random: Random) => random.pick(Object.values(DATA)).base64
const TYPES = [
  ...['image/png', 'application/pdf', 'video/mp4', 'audio/wav', 'IMAGE/PNG;a=b', '', 'application/octet-stream'],
  ...['text/plain;charset=utf-8', 'video/jpeg'],
]
const FILE_NAMES = ['a', 'a.pdf', 'a.png', 'a.mp4', 'a.docx']
const ADDRESSES = [
  ...['a.png', 'film.mp4', 'a.pdf', 'a'].map((name) => `https://a.test/${name}`),
  ...['http://a.test/a.png', 'file-1'],
]

function text(random: Random): string {
  return Array.from({ length: random.below(12) }, () => random.pick(WORDS)).join('')
}

function address(random: Random): string {
  if (random.chance(0.5)) return random.pick(ADDRESSES)
  return `data:${random.pick(TYPES)};base64,${data(random)}`
}

/** A part that is no text, in one of many ways that providers know. */
function medium(random: Random): Json {
  return random.pick<() => Json>([
    () => ({ type: 'image_url', image_url: { url: address(random) } }),
    () => ({ type: 'image_url', image_url: address(random) }),
    () => ({ type: 'file', file: { filename: random.pick(FILE_NAMES), file_data: address(random) } }),
    () => ({ type: 'file', file: { filename: random.pick(FILE_NAMES), file_data: data(random) } }),
    () => ({ type: 'file', file: { file_data: data(random) } }),
    () => ({ type: 'audio_url', audio_url: { url: address(random) } }),
    () => ({ type: 'file', file: { file_id: 'file-1' } }),
    () => ({ type: 'input_audio', input_audio: { data: random.pick([data(random), address(random)]), format: 'wav' } }),
    () => ({ type: 'video_url', video_url: { url: address(random) } }),
    () => ({ type: 'text', text: text(random), video_url: { url: 'https://a.test/film.mp4' } }),
  ])()
}

/** JSON of any kind, with media in it that nobody asked for. */
function anything(random: Random, depth = 0): unknown {
  const deeper = () => anything(random, depth + 1)
  const flat = [
    () => text(random),
    () => random.pick(NUMBERS),
    () => address(random),
    () => random.pick([true, false, null]),
  ]
  const deep = [
    () => ({ url: address(random) }),
    () => ({ type: random.pick(KINDS), [random.pick(NAMES)]: deeper() }),
    () => Array.from({ length: random.below(4) }, deeper),
    () => ({ [random.pick(NAMES)]: deeper(), [random.pick(NAMES)]: deeper() }),
  ]
  return random.pick<() => unknown>(depth > 2 ? flat : [...flat, ...deep])()
}

const NAMES = [
  ...['video_url', 'image_url', 'input_audio', 'file', 'file_id', 'file_data', 'file_url', 'source', 'url', 'data'],
  ...['text', 'content', 'thinking', 'reasoning_content', 'reasoning_details', 'signature', 'summary', 'refusal'],
  ...['name', 'audio', 'cache_control', 'documents', 'plugins', 'metadata', 'tools', 'input', 'extra_body', 'n'],
  ...['max_tokens', 'max_completion_tokens', 'best_of', 'chat_template_kwargs', 'user', 'type', 'x', 'ﷺ'],
]
const KINDS = [
  ...['text', 'image_url', 'video_url', 'file', 'input_audio', 'image', 'document', 'thinking', 'tool_use', 'x'],
]

const schema = (random: Random) => ({ type: 'object', properties: { a: anything(random) }, description: text(random) })
/** Arguments as text, in which numbers are shorter than they are written again. */
function args(random: Random): string {
  const numbers = Array(random.pick([0, 0, 2, 400])).fill('1e20')
  const json = `{"n":[${numbers.join()}],${JSON.stringify({ a: text(random), b: [anything(random)] }).slice(1)}`
  return random.chance(0.3) ? inAscii(json) : json
}

/** As Python writes JSON: a character that becomes longer may come in few bytes. */
export const inAscii = (json: string) =>
  json.replaceAll(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** An id with characters that some providers take in other letters only. */
const callId = (random: Random) => random.pick(['c1', 'c/1', '…'.repeat(200)])

/** Wishes for more thoughts or words than the cap, in one of many ways that providers know. */
export const budgets = (most: number): readonly Json[] => [
  { thinking: { type: 'enabled', budget_tokens: most } },
  { reasoning: { max_tokens: most } },
  { thinking_budget: most },
  { chat_template_kwargs: { thinking_budget: most } },
  { min_tokens: most },
]
const budget = (random: Random) => random.pick(budgets(random.pick([1, 250, 1_000_000])))

const inBase64 = (random: Random) => ({ type: 'base64', media_type: random.pick(TYPES), data: data(random) })

const BODIES: Readonly<Record<ContractName, (random: Random, id?: string) => Json>> = {
  chat: (random, id = callId(random)) => ({
    messages: [
      { role: 'system', content: text(random) },
      { role: 'user', content: [{ type: 'text', text: text(random) }, medium(random)] },
      {
        role: 'assistant',
        content: random.pick([null, text(random)]),
        reasoning_content: text(random),
        reasoning_details: thoughts(random.pick([0, 1, 3, 40])),
        tool_calls: [{ id, type: 'function', function: { name: 'f', arguments: args(random) } }],
      },
      { role: 'tool', tool_call_id: id, content: text(random) },
      { role: 'user', content: `${text(random)}?` },
    ],
    ...(random.chance(0.5) && { tools: [{ type: 'function', function: { name: 'f', parameters: schema(random) } }] }),
    ...(random.chance(0.5) && { max_tokens: 1 + random.below(300) }),
    ...(random.chance(0.5) && { max_completion_tokens: 1 + random.below(300) }),
    ...(random.chance(0.2) && { n: 1 + random.below(4) }),
    ...(random.chance(0.3) && budget(random)),
    ...(random.chance(0.2) && { user: text(random), prompt_cache_key: text(random) }),
  }),
  messages: (random) => ({
    max_tokens: 1 + random.below(300),
    system: random.pick([text(random), [{ type: 'text', text: text(random) }]]),
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: `${text(random)}.` },
          random.pick([
            { type: 'image', source: inBase64(random) },
            { type: 'image', source: { type: 'url', url: address(random) } },
            { type: 'document', source: { type: 'url', url: address(random) } },
            { type: 'document', source: inBase64(random), title: random.pick(FILE_NAMES) },
            { type: 'image', source: { type: 'file', file_id: 'file-1' } },
            { type: 'document', source: { type: 'text', media_type: 'text/plain', data: text(random) }, title: 'T' },
            { type: 'search_result', source: 's', title: 't', content: [{ type: 'text', text: text(random) }] },
          ]),
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: text(random), signature: 's' },
          { type: 'text', text: `${text(random)}.` },
          { type: 'tool_use', id: 'c1', name: 'f', input: { a: anything(random) } },
        ],
      },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: 'c1',
            content: random.pick([text(random), [{ type: 'image', source: inBase64(random) }]]),
          },
        ],
      },
    ],
    ...(random.chance(0.5) && { tools: [{ name: 'f', input_schema: schema(random) }] }),
    ...(random.chance(0.3) && budget(random)),
  }),
  responses: (random) => ({
    instructions: text(random),
    input: [
      {
        role: 'user',
        content: [
          { type: 'input_text', text: text(random) },
          random.pick<Json>([
            { type: 'input_image', image_url: address(random) },
            { type: 'input_file', filename: random.pick(FILE_NAMES), file_data: address(random) },
            { type: 'input_file', file_data: data(random) },
            { type: 'input_audio', input_audio: { data: data(random), format: 'wav' } },
          ]),
        ],
      },
      {
        type: 'reasoning',
        summary: [{ type: 'summary_text', text: text(random) }],
        encrypted_content: packed(random.pick([1, 3, 60])),
      },
      { type: 'function_call', call_id: 'c1', name: 'f', arguments: args(random) },
      { type: 'function_call_output', call_id: 'c1', output: text(random) },
      { role: 'user', content: `${text(random)}?` },
    ],
    ...(random.chance(0.5) && { tools: [{ type: 'function', name: 'f', parameters: schema(random) }] }),
    ...(random.chance(0.5) && { max_output_tokens: 1 + random.below(300) }),
    ...(random.chance(0.3) && budget(random)),
  }),
  completions: (random) => ({
    prompt: random.pick([text(random), [text(random), text(random)], [1, 2, 3]]),
    n: 1 + random.below(3),
    max_tokens: 1 + random.below(300),
    ...(random.chance(0.3) && { suffix: text(random), user: text(random) }),
    ...(random.chance(0.3) && budget(random)),
  }),
  embeddings: (random) => ({ input: random.pick([`${text(random)}.`, [`${text(random)}.`, 'b'], [1, 2, 3]]) }),
}

/** Thoughts as this gateway packs them for clients that carry one text: so many of them, all signed. */
function packed(count: number): string {
  return `thoughts.v1.${Buffer.from(JSON.stringify(thoughts(count))).toString('base64url')}`
}

function thoughts(count: number): Json[] {
  const signed = { type: 'reasoning.text', format: 'anthropic-claude-v1' }
  return Array.from({ length: count }, (_, index) => ({ ...signed, signature: `s${index}` }))
}

/** A request that may be honest, and mostly is not: up to four things in it are other than they should be, at any depth. */
export function randomRequest(random: Random, contract: ContractName, model: string): Json {
  const body = { model, ...BODIES[contract](random) }
  for (let left = random.below(5); left > 0; left--) spoil(random, body)
  // The model decides who answers.
  return { ...body, model }
}

function spoil(random: Random, body: Json): void {
  const objects = objectsIn(body)
  const node = random.pick(objects)
  const names = Object.keys(node)
  switch (random.below(4)) {
    case 0:
      node[random.pick(NAMES)] = anything(random)
      return
    case 1:
      node[random.pick(names)] = anything(random)
      return
    case 2: {
      const lists = objects.flatMap((one) =>
        Object.values(one).filter((value) => Array.isArray(value) && value.length > 0),
      )
      const list = random.pick(lists) as unknown[] | undefined
      if (list) for (let i = 0; i < 20; i++) list.push(list[0])
      return
    }
    default:
      if ('type' in node) node.type = random.pick(KINDS)
  }
}

function objectsIn(value: unknown): Json[] {
  if (typeof value !== 'object' || value === null) return []
  const inside = Object.values(value).flatMap(objectsIn)
  return Array.isArray(value) ? inside : [value as Json, ...inside]
}
