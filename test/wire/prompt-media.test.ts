import { expect, test } from '@jest/globals'
import { promptMedia } from '../../layers/gateway/wire/chat/prompt-media.ts'

const bytes = (...parts: readonly (string | number[])[]) =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : Buffer.from(part))))
const PNG = bytes([0x89], 'PNG\r\n\x1a\n', [0, 0, 0, 13], 'IHDR')
const JPEG = bytes([0xff, 0xd8, 0xff, 0xe0])
const PDF = bytes('%PDF-1.4\n')
const ZIP = bytes('PK\x03\x04')
const MP4 = bytes([0, 0, 0, 28], 'ftypisom')
const WAV = bytes('RIFF', [36, 0, 0, 0], 'WAVEfmt ')
const GIF = bytes('GIF89a')
const base64 = (data: Buffer) => data.toString('base64')
const url = (type: string, data: Buffer) => `data:${type};base64,${base64(data)}`

const image = (address: string) => ({ type: 'image_url', image_url: { url: address } })
const video = (address: string) => ({ type: 'video_url', video_url: { url: address } })
const audio = (data: string, format = 'wav') => ({ type: 'input_audio', input_audio: { data, format } })
const file = (file_data: string, filename?: string) => ({ type: 'file', file: { file_data, filename } })

const kindOf = (part: object) =>
  Object.entries(promptMedia([{ role: 'user', content: [part] }]))
    .filter(([, count]) => count > 0)
    .map(([kind]) => kind)
    .join()

test.each<[string, object, string]>([
  ['a picture', image(url('image/png', PNG)), 'image'],
  ['a picture with DATA: in capitals', image(url('IMAGE/PNG;charset=x', PNG).replace('data:', 'DATA:')), 'image'],
  ['a picture without a type', image(url('', PNG)), 'image'],
  ['a picture of no telling type', image(url('application/octet-stream', JPEG)), 'image'],
  ['a picture of no telling type in a file', file(url('binary/octet-stream', PNG)), 'image'],
  ['a picture as base64 in a file', file(base64(PNG), 'a.PNG'), 'image'],
  ['a picture as base64 in lines', file(base64(PNG).replaceAll(/(.{4})/g, '$1\r\n')), 'image'],
  ['a HEIC', image(url('image/heic', bytes([0, 0, 0, 24], 'ftypheic'))), 'image'],
  ['a document', file(url('application/pdf', PDF), 'a.pdf'), 'file'],
  ['a document without a type or a name', file(base64(PDF)), 'file'],
  ['a document in place of a picture', image(url('application/pdf', PDF)), 'file'],
  ['a document of no telling type in place of a picture', image(url('', PDF)), 'file'],
  ['a docx, whatever it unpacks to', file(url('', ZIP), 'Report 2.0'), 'file'],
  ['a film in a file', file(url('video/mp4', MP4), 'a.mp4'), 'video'],
  ['a film without a type in a file', file(base64(MP4)), 'video'],
  ['a film in place of a picture', image(url('video/mp4', MP4)), 'video'],
  ['sound', audio(base64(WAV)), 'audio'],
])('%s is held by its kind', (_, part, kind) => {
  expect(kindOf(part)).toBe(kind)
})

test.each<[string, object]>([
  ['an address', image('https://a.test/a.png')],
  ['an address in capitals', image('HTTPS://a.test/a.png')],
  ['an address of a film', video('https://a.test/a.mp4')],
  ['an address of a file', file('https://a.test/a.pdf')],
  ['an address in place of sound', audio('https://a.test/a.wav')],
  ['a document that says it is a picture', image(url('image/png', PDF))],
  ['a picture that says it is a document', file(url('application/pdf', PNG))],
  ['a film that is named as a picture', file(base64(MP4), 'a.png')],
  ['a picture that is named as a document', file(base64(PNG), 'a.docx ')],
  ['a picture of a document, as the Messages API names it', file(url('image/png', PNG), 'document.pdf')],
  ['a picture that readers of PDF take, too', image(url('image/png', bytes(PNG.toString('latin1'), '%PDF-1.4')))],
  [
    'the same behind white space',
    image(`data:image/png;base64,${base64(PNG)}${' '.repeat(5_000)}${base64(bytes('%PDF-1.4'))}`),
  ],
  ['the same behind an end', image(`${url('image/png', PNG.subarray(0, 8))}${base64(PDF)}`)],
  ['letters that decoders read in two ways', image(url('', JPEG).replaceAll('/', '_'))],
  ['pictures as a film', video('data:video/jpeg;base64,/9j/4AAQ,/9j/4AAQ')],
  ['an animated picture as a film', video(url('image/gif', GIF))],
  ['a film that says it is sound', audio(base64(MP4), 'wav')],
  ['a film as sound', { type: 'audio_url', audio_url: { url: url('', MP4) } }],
  ['a film of HEIF', image(url('image/heic', bytes([0, 0, 0, 24], 'ftyphevc')))],
  ['a TIFF with any number of pages', image(url('image/tiff', bytes('II*\0')))],
  ['a drawing', image(url('image/svg+xml', bytes('<svg/>')))],
  ['a drawing without base64', image('data:image/svg+xml,%3Csvg%2F%3E')],
  ['a text', file(url('text/plain;charset=utf-8', bytes('BM is no picture')), 'a.txt')],
  ['a text that begins as sound', file(base64(bytes([0xff, 0xfe], 'a\0')))],
  ['bytes that nobody knows', file(base64(bytes([1, 2, 3, 4])))],
  ['a picture behind a long header', image(url(`image/png;a=${'b'.repeat(300)}`, PNG))],
  ['a picture whose base64 is percent-encoded', image(`data:image/png;base64,%69${base64(PNG).slice(1)}`)],
  ['a file without data', { type: 'file', file: {} }],
])('%s may be any kind that the model takes', (_, part) => {
  expect(kindOf(part)).toBe('any')
})
