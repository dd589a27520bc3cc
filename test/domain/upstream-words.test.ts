import { expect, test } from '@jest/globals'
import { upstreamWords } from '../../layers/gateway/domain/routing/upstream-words.ts'

const UUID = '3fa85f64-5717-4562-b3fc-2c963f66afa6'

test.each([
  [
    'Rate limit reached for gpt-4o in organization org-abc on tokens per min (TPM): Limit 30000, Used 29000.',
    'Rate limit reached for gpt-4o in organization [id] on tokens per min (TPM): Limit 30000, Used 29000.',
  ],
  [
    "You didn't provide an API key. Get one at https://platform.openai.com/account/api-keys.",
    "You didn't provide an API key. Get one at [address].",
  ],
  [
    'Incorrect API key provided: sk-proj-****abcd. See (https://a.example/b).',
    'Incorrect API key provided: [key]. See ([address]).',
  ],
  [
    'Project `proj_Ab12Cd34` does not have access to model `o3` (req_0a1b2c3d4e).',
    'Project `[id]` does not have access to model `o3` ([id]).',
  ],
  ['The host acme-east.openai.azure.com:443/openai/deployments/x is wrong.', 'The host [host] is wrong.'],
  [
    `/subscriptions/${UUID}/resourceGroups/acme/providers/Microsoft.CognitiveServices/accounts/acme is disabled`,
    '[path] is disabled',
  ],
  [
    `This would exceed your organization's rate limit (org: ${UUID}).`,
    "This would exceed your organization's rate limit (org: [id]).",
  ],
  ['Workspace wrkspc_01JwQvzr7rXLA5AGx3HKfFUJ is over its limit', 'Workspace [id] is over its limit'],
  [
    'Invalid arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-3 for AKIAIOSFODNN7EXAMPLE',
    'Invalid [arn] for [key]',
  ],
  ['Account 123456789012 may not call the model.', 'Account [id] may not call the model.'],
  [
    'File "/usr/lib/python3/site-packages/vllm/x.py", line 12: cannot open /models/acme-secret/config.json',
    'File "[path]", line 12: cannot open [path]',
  ],
  ['connect ECONNREFUSED 10.0.0.5:8000.', 'connect ECONNREFUSED [host].'],
  ['[fd00::12:1]:8000, fe80::1 and 2001:db8:0:0:0:0:0:1 do not answer', '[host], [host] and [host] do not answer'],
  [
    "HTTPConnectionPool(host='vllm', port=8000): Max retries exceeded with url: /v1/chat/completions",
    "HTTPConnectionPool(host='[host]', port=8000): Max retries exceeded with url: /v1/chat/completions",
  ],
  [
    'vllm-0:8000, vllm.default.svc:8000, localhost:8000, ip-10-0-0-5.ec2.internal, gpu.corp',
    '[host], [host], [host], [host], [host]',
  ],
  [
    'Consumer projects/12345/locations/us-central1 (project number: 123456789) and project acme-prod-1',
    'Consumer projects/[id]/locations/us-central1 (project number: [id]) and project [id]',
  ],
  ['Ask admin+x@acme-corp.de or robot@acme.iam.gserviceaccount.com', 'Ask [address] or [address]'],
  ['C:\\Users\\acme\\model.bin, ~/.cache/huggingface/hub and file:///etc/passwd', '[path] [path] and [address]'],
  ['{"url":"https:\\/\\/10.0.0.5\\/v1"}', '{"url":"[address]"}'],
  ['postgres://u:p@db/x s3://acme-bucket/y http://[fd00::1]:8000/v1', '[address] [address] [address]'],
  ['AIzaSyA1234567890abcdefghij and ASIAIOSFODNN7EXAMPLE', '[key] and [key]'],
  ['::ffff:10.0.0.5 and node7:8000 and ../weights/acme/x.bin', '::ffff:[host] and [host] and [path]'],
  ['project_number:12345, account id 9876-5432', 'project_number:[id], account id [id]'],
  ['https%3A%2F%2Facme.openai.azure.com%2Fopenai', 'https%3A%2F%[host]%2Fopenai'],
  ['sk-\u200babcdefgh and 10.0\u200b.0.5', '[key] and [host]'],
])('%s', (message, told) => {
  expect(upstreamWords(message)).toBe(told)
})

test.each([
  "Invalid type for 'messages[0].content': expected one of a string or array of objects, but got an integer instead.",
  "This model's maximum context length is 128000 tokens. However, your messages resulted in 130042 tokens (e.g. 2.1).",
  'messages.1.content.0.image.source.base64.data: At least one field, i.e. text, is missing',
  'tools.0.custom.input_schema: JSON schema is invalid (draft 2020-12)',
  'The model `gpt-4.1-mini` does not support temperature 0.25; us.anthropic.claude-3-5-sonnet-20241022-v2:0 does.',
  'Qwen/Qwen2.5-7B-Instruct, deepseek-ai/DeepSeek-V3.1, claude-3-5-sonnet@20240620, llama3.1:70b and models/gemini-1.5-pro',
  'This is not a chat model. Did you mean to use v1/completions, or /v1/responses/compact?',
  '#/messages/0/content: expected minLength: 1, actual: 0; /messages/0/content is empty',
  'No tool call found for call_abc123DEF456 with toolu_01A09q90qw90lq917835lq9',
  'max_tokens:4096 is above 2048, at line:12, 12:34:56, ratio 1:2:3, std::vector, and/or, image/png, n/a.',
  "Your organization must be verified. Limit for your organization 10000 TPM, account 2024-05-01, 'response_format.json_schema'",
  'org_id and project_id are unknown; the project is fine',
  'Expected 0.123456789012 or 1,234,567,890,123; version 1.2.3; torch.cuda.OutOfMemoryError',
])('legitimate parts survive: %s', (message) => {
  expect(upstreamWords(message)).toBe(message)
})

const LONG = 64 * 1024
/** They are separated by blanks. */
const PIECES =
  "a - . / /a a. a- a@ 1. 1 : :: a: f: [ a:// a://. org- arn: project/ projectid host= ip-1 1.1.1.1 a.com a.com. x@a. sk- ~/ C:\\ \\/ 3fa85f64- aaaaaaaa-aaaa- a_ host=' localhost localhost. ( é https:\\/\\/"
test.each([...PIECES.split(' '), ' ', 'project ', 'project 1'])('64 KiB of %j take little time', (piece) => {
  const text = piece.repeat(LONG / piece.length)
  const start = performance.now()
  for (const end of ['', '!', ' .', '@', '://']) upstreamWords(text + end)
  expect(performance.now() - start).toBeLessThan(500)
})
