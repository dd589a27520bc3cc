import { expect, test } from '@jest/globals'
import { MESSAGES_FIELDS } from '../../layers/gateway/contracts/messages/messages-fields.ts'
import { RESPONSES_FIELDS } from '../../layers/gateway/contracts/responses/responses-fields.ts'
import { Reading } from '../../layers/gateway/wire/basics/reading.ts'
import { buildFields, knownRows } from '../../layers/gateway/wire/basics/shape.ts'
import { CHAT_FIELDS } from '../../layers/gateway/wire/chat/chat-fields.ts'

const CHAT = knownRows(CHAT_FIELDS)
const user = (...content: object[]) => ({ messages: [{ role: 'user', content }] })
const tool = (...content: object[]) => ({ messages: [{ role: 'tool', tool_call_id: 'a', content }] })
const input = (...content: object[]) => ({ input: [{ role: 'user', content }] })
const output = (...output: object[]) => ({ input: [{ type: 'function_call_output', call_id: 'a', output }] })
const block = (type: string, source: object) => user({ type, source })

/** Every field of every contract that can name a medium. */
const FIELDS: Readonly<Record<string, readonly [typeof CHAT, (place: string) => object]>> = {
  'chat, image_url': [CHAT, (url) => user({ type: 'image_url', image_url: { url } })],
  'chat, image_url as a text': [CHAT, (url) => user({ type: 'image_url', image_url: url })],
  'chat, image_url of a tool': [CHAT, (url) => tool({ type: 'image_url', image_url: { url } })],
  'chat, audio_url': [CHAT, (url) => user({ type: 'audio_url', audio_url: { url } })],
  'chat, video_url': [CHAT, (url) => user({ type: 'video_url', video_url: url })],
  'chat, input_audio': [CHAT, (data) => user({ type: 'input_audio', input_audio: { data, format: 'wav' } })],
  'chat, file_data': [CHAT, (file_data) => user({ type: 'file', file: { file_data } })],
  'messages, image': [MESSAGES_FIELDS, (url) => block('image', { type: 'url', url })],
  'messages, document': [MESSAGES_FIELDS, (url) => block('document', { type: 'url', url })],
  'messages, tool_result': [
    MESSAGES_FIELDS,
    (url) =>
      user({ type: 'tool_result', tool_use_id: 'a', content: [{ type: 'image', source: { type: 'url', url } }] }),
  ],
  'responses, input_image': [RESPONSES_FIELDS, (image_url) => input({ type: 'input_image', image_url })],
  'responses, input_file': [RESPONSES_FIELDS, (file_data) => input({ type: 'input_file', file_data })],
  'responses, file_url': [RESPONSES_FIELDS, (file_url) => input({ type: 'input_file', file_url })],
  'responses, input_audio': [
    RESPONSES_FIELDS,
    (data) => input({ type: 'input_audio', input_audio: { data, format: 'wav' } }),
  ],
  'responses, an output': [RESPONSES_FIELDS, (image_url) => output({ type: 'input_image', image_url })],
}

/** They are separated by blanks. */
const PLACES = [
  'file:///etc/passwd FILE:/etc/passwd file://localhost/etc/passwd http://a.example/x ftp://a.example/x /srv/data/x.png',
  '../x.wav x.pdf ~/x C:\\x \\\\host\\x s3://bucket/x gs://bucket/x https://localhost/x https://vault/x https://127.0.0.1/x',
  'https://0x7f000001/x https://[::1]/x https://169.254.169.254/x https://2130706433/x https://[fd00::1]/x https://vault./x',
  'https://metadata.google.internal/x https://u:p@a.example/x https://x.svc.cluster.local./x //a.example/x javascript:1',
  'unix:/var/run/x https:\\\\vault',
].flatMap((line) => line.split(' '))

test.each(Object.entries(FIELDS))('%s names no place on the provider’s machine or beside it', (_, [rows, bodyOf]) => {
  const taken = PLACES.filter((place) => {
    try {
      buildFields(bodyOf(place) as Record<string, unknown>, rows, new Reading('caller'))
      return true
    } catch {
      return false
    }
  })
  expect(taken).toEqual([])
})

test.each(Object.entries(FIELDS).filter(([name]) => !name.includes('file_url')))(
  '%s takes data and public addresses',
  (_, [rows, bodyOf]) => {
    for (const place of ['https://cdn.a.example/x', 'data:image/png;base64,iVBORw0KGgo='])
      expect(buildFields(bodyOf(place) as Record<string, unknown>, rows, new Reading('caller'))).toEqual(bodyOf(place))
  },
)
