import { ALIAS, testSent } from './support/sent.ts'

const SCHEMA = { type: 'object', properties: { at: { type: 'string' } }, required: ['at'] }
const EMPTY = { type: 'object', properties: {} }
const LOOK = { name: 'look', description: 'Looks.', parameters: SCHEMA }
const TOOLS = [
  { type: 'function', function: { ...LOOK, strict: true } },
  { type: 'function', function: { name: 'now', description: '' } },
]

const AT_ANTHROPIC = [
  { name: 'look', description: 'Looks.', input_schema: SCHEMA, strict: true },
  { name: 'now', input_schema: EMPTY },
]
const AT_BEDROCK = [
  { toolSpec: { name: 'look', description: 'Looks.', inputSchema: { json: SCHEMA } } },
  { toolSpec: { name: 'now', inputSchema: { json: EMPTY } } },
]
const AT_RESPONSES = [
  { type: 'function', ...LOOK, strict: true },
  { type: 'function', name: 'now', description: '', parameters: EMPTY, strict: false },
]

testSent('chat', {
  'the smallest request is sent with its cap, and with nothing that was not asked': [
    {},
    { anthropic: {}, bedrock: {}, responses: {} },
  ],
  'null asks for nothing': [
    { stop: null, temperature: null, top_p: null, user: null, response_format: null, tools: null, tool_choice: null },
    { anthropic: {}, bedrock: {}, responses: {} },
  ],
  'hints that a dialect lacks are left out': [
    {
      n: 1,
      seed: 7,
      presence_penalty: 1,
      frequency_penalty: 0,
      logprobs: false,
      logit_bias: {},
      store: true,
      metadata: { a: 'b' },
      modalities: ['text'],
      x_future: null,
      response_format: { type: 'text' },
    },
    { anthropic: {}, bedrock: {}, responses: {} },
  ],
  'a cap and ways to draw the next token are sent within the bounds of the dialect': [
    { max_tokens: undefined, max_completion_tokens: 77, temperature: 1.7, top_p: 0.25, stop: ['END', ''], top_k: 40 },
    {
      anthropic: { max_tokens: 77, temperature: 1, top_p: 0.25, stop_sequences: ['END'], top_k: 40 },
      bedrock: { inferenceConfig: { maxTokens: 77, temperature: 1, topP: 0.25, stopSequences: ['END'] } },
    },
  ],
  'a top_k without a limit is not sent': [{ top_k: -1 }, { anthropic: {}, bedrock: {} }],
  'a stop text may stand alone': [
    { stop: 'END', temperature: 0.3 },
    {
      anthropic: { stop_sequences: ['END'], temperature: 0.3 },
      bedrock: { inferenceConfig: { maxTokens: 100, temperature: 0.3, stopSequences: ['END'] } },
    },
  ],
  'the caller’s own names are sent as names that no other key can have': [
    { user: 'u', prompt_cache_key: 'k' },
    { anthropic: { metadata: { user_id: ALIAS } }, bedrock: {}, responses: { user: ALIAS, prompt_cache_key: ALIAS } },
  ],
  'a safety identifier is a name, too': [
    { safety_identifier: 'hash' },
    { anthropic: { metadata: { user_id: ALIAS } }, bedrock: {}, responses: { safety_identifier: ALIAS } },
  ],
  'a schema of the answer is sent': [
    { response_format: { type: 'json_schema', json_schema: { name: 'place', strict: true, schema: SCHEMA } } },
    {
      anthropic: { output_config: { format: { type: 'json_schema', schema: SCHEMA } } },
      bedrock: {
        outputConfig: {
          textFormat: {
            type: 'json_schema',
            structure: { jsonSchema: { name: 'place', schema: JSON.stringify(SCHEMA) } },
          },
        },
      },
      responses: { text: { format: { type: 'json_schema', name: 'place', strict: true, schema: SCHEMA } } },
    },
  ],
  'the least effort is sent, and how much to say': [
    { reasoning_effort: 'minimal', verbosity: 'low', thinking: { type: 'adaptive' } },
    { anthropic: { output_config: { effort: 'low' }, thinking: { type: 'adaptive' } } },
  ],
  'much effort is sent': [
    { reasoning_effort: 'xhigh', verbosity: 'high' },
    {
      anthropic: { output_config: { effort: 'xhigh' } },
      responses: { reasoning: { effort: 'xhigh' }, text: { verbosity: 'high' } },
    },
  ],
  'no effort is sent': [
    { reasoning_effort: 'none' },
    { anthropic: { thinking: { type: 'disabled' } }, responses: { reasoning: { effort: 'none' } } },
  ],
  'an empty list of tools is none': [
    { tools: [], tool_choice: null, parallel_tool_calls: true },
    { anthropic: {}, bedrock: {}, responses: { parallel_tool_calls: true } },
  ],
  'tools are sent': [
    { tools: TOOLS },
    {
      anthropic: { tools: AT_ANTHROPIC },
      bedrock: { toolConfig: { tools: AT_BEDROCK } },
      responses: { tools: AT_RESPONSES },
    },
  ],
  'the tool choice auto is sent where it is not the default': [
    { tools: TOOLS, tool_choice: 'auto', parallel_tool_calls: true },
    {
      anthropic: { tools: AT_ANTHROPIC, tool_choice: { type: 'auto' } },
      bedrock: { toolConfig: { tools: AT_BEDROCK } },
      responses: { tools: AT_RESPONSES, tool_choice: 'auto', parallel_tool_calls: true },
    },
  ],
  'the tool choice required is sent': [
    { tools: TOOLS, tool_choice: 'required' },
    {
      anthropic: { tools: AT_ANTHROPIC, tool_choice: { type: 'any' } },
      bedrock: { toolConfig: { tools: AT_BEDROCK, toolChoice: { any: {} } } },
    },
  ],
  'the tool choice none is sent, or no tools': [
    { tools: TOOLS, tool_choice: 'none', parallel_tool_calls: false },
    { anthropic: { tools: AT_ANTHROPIC, tool_choice: { type: 'none' } }, bedrock: {} },
  ],
  'a choice of one tool is sent': [
    { tools: TOOLS, tool_choice: { type: 'function', function: { name: 'look' } } },
    {
      anthropic: { tools: AT_ANTHROPIC, tool_choice: { type: 'tool', name: 'look' } },
      bedrock: { toolConfig: { tools: AT_BEDROCK, toolChoice: { tool: { name: 'look' } } } },
      responses: { tools: AT_RESPONSES, tool_choice: { type: 'function', name: 'look' } },
    },
  ],
  'one call at a time is sent': [
    { tools: TOOLS, parallel_tool_calls: false },
    {
      anthropic: { tools: AT_ANTHROPIC, tool_choice: { type: 'auto', disable_parallel_tool_use: true } },
      responses: { tools: AT_RESPONSES, parallel_tool_calls: false },
    },
  ],
  'one call at a time of a tool that must be called is sent': [
    { tools: TOOLS, tool_choice: 'required', parallel_tool_calls: false },
    { anthropic: { tools: AT_ANTHROPIC, tool_choice: { type: 'any', disable_parallel_tool_use: true } } },
  ],
  'custom tools and a choice among allowed ones are sent': [
    {
      tools: [
        TOOLS[0],
        {
          type: 'custom',
          custom: { name: 'sh', format: { type: 'grammar', grammar: { syntax: 'lark', definition: 'x' } } },
        },
      ],
      tool_choice: {
        type: 'allowed_tools',
        allowed_tools: { mode: 'required', tools: [{ type: 'function', function: { name: 'look' } }] },
      },
    },
    {
      responses: {
        tools: [
          AT_RESPONSES[0],
          { type: 'custom', name: 'sh', format: { type: 'grammar', syntax: 'lark', definition: 'x' } },
        ],
        tool_choice: { type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name: 'look' }] },
      },
    },
  ],
})
