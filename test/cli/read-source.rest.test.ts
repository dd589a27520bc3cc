import { writeFileSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { createServer } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { readSource } from '../../cli/reading/read-source.ts'
import { makeCertificate } from '../support/certificate.ts'
import { listen } from '../support/listen.ts'
import { emptyFolder, run } from '../support/processes.ts'

const MEGABYTE = 1024 * 1024
const BOUNDS = { folder: emptyFolder(), nowMs: Date.now(), mostBytes: MEGABYTE, mostMs: 5000 }

test('a file has its name, its date, its hash, and no more bytes than the bound', async () => {
  writeFileSync(join(BOUNDS.folder, 'a.json'), '{}')
  expect(await readSource('a.json', BOUNDS)).toMatchObject({
    name: 'a.json',
    file: 'a.json',
    bytes: Buffer.from('{}'),
    sha256: '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a',
  })
  writeFileSync(join(BOUNDS.folder, 'b.json'), ' '.repeat(MEGABYTE))
  await expect(readSource('b.json', BOUNDS)).resolves.toBeTruthy()
  writeFileSync(join(BOUNDS.folder, 'b.json'), ' '.repeat(MEGABYTE + 1))
  await expect(readSource('b.json', BOUNDS)).rejects.toThrow('b.json has more than 1 MB.')
})

test.each([
  ['http://localhost/a?token=x', "'http://localhost/a' is neither a file nor an https address."],
  ['ftp://localhost/a', "'ftp://localhost/a' is neither a file nor an https address."],
  ['file:///etc/passwd', "'file:///etc/passwd' is neither a file nor an https address."],
  ['https://me:secret@localhost/a', 'An address must have no name and no password in it.'],
  ['https://', "'https://' is not an https address."],
  ['none.json', "The file 'none.json' cannot be read (ENOENT)."],
  ['.', "The file '.' cannot be read (EISDIR)."],
])('%s is refused in words, and no secret is in them', async (from, message) => {
  await expect(readSource(from, BOUNDS)).rejects.toThrow(message)
})

const certificate = makeCertificate()
const testWithOpenssl = certificate ? test : test.skip
const opened = new AsyncDisposableStack()
afterAll(() => opened.disposeAsync())

const PAGES: Readonly<Record<string, RequestListener>> = {
  '/list.json': (_, res) => res.setHeader('last-modified', 'Sun, 01 Nov 2026 10:00:00 GMT').end('{"a":1}'),
  '/future.json': (_, res) => res.setHeader('last-modified', 'Fri, 01 Nov 2099 10:00:00 GMT').end('{}'),
  '/to/list': (_, res) => res.writeHead(302, { location: '/list.json' }).end(),
  '/to/plain': (_, res) => res.writeHead(302, { location: 'http://localhost/list.json' }).end(),
  '/to/itself': (_, res) => res.writeHead(307, { location: '/to/itself' }).end(),
  '/to/nowhere': (_, res) => res.writeHead(301).end(),
  '/large.json': (_, res) => res.end(' '.repeat(MEGABYTE + 1)),
  '/bomb.json': (_, res) => res.setHeader('content-encoding', 'gzip').end(gzipSync(Buffer.alloc(64 * MEGABYTE, 32))),
  '/endless.json': (_, res) => void res.write('{'),
  '/silent.json': () => {},
  '/gone.json': (_, res) => res.writeHead(404).end('nothing here'),
}
let base = ''
beforeAll(async () => {
  if (!certificate) return
  opened.use(certificate)
  const server = createServer(certificate, (req, res) => PAGES[req.url?.split('?')[0] ?? '']?.(req, res))
  const { url } = opened.use(await listen(server))
  base = `https://localhost:${new URL(url).port}`
})

/** In a process of its own, as what a process trusts is read with its start. */
async function download(path: string): Promise<Record<string, string>> {
  const trust = { NODE_EXTRA_CA_CERTS: certificate?.file ?? '' }
  const args = [`${base}${path}`, `${MEGABYTE}`, '5000']
  const { stdout } = await run('test/cli/fixtures/read-source.ts', args, tmpdir(), trust).ended
  return JSON.parse(stdout)
}

testWithOpenssl(
  'a page is downloaded, over redirects to https, without a token of its address in its name',
  async () => {
    const list = { file: 'list.json', text: '{"a":1}', changed: '2026-11-01T10:00:00.000Z' }
    expect(await download('/list.json?token=x')).toMatchObject({ ...list, name: `${base}/list.json` })
    expect(await download('/to/list')).toMatchObject({ ...list, name: `${base}/to/list` })
    expect(await download('/future.json')).toMatchObject({ changed: '2026-11-17T00:00:00.000Z' })
  },
)

testWithOpenssl('a download ends at its bounds, and at an address that is not https', async () => {
  const errors: Record<string, string> = {
    '/to/plain': "'http://localhost/list.json' is not an https address.",
    '/to/itself': `${base}/to/itself leads to another address more than 3 times.`,
    '/to/nowhere': `${base}/to/nowhere answered with the status 301.`,
    '/large.json': `${base}/large.json has more than 1 MB.`,
    '/bomb.json': `${base}/bomb.json has more than 1 MB.`,
    '/endless.json': `${base}/endless.json took longer than 5 seconds.`,
    '/silent.json': `${base}/silent.json took longer than 5 seconds.`,
    '/gone.json': `${base}/gone.json answered with the status 404.`,
  }
  for (const [path, error] of Object.entries(errors)) expect(await download(path)).toEqual({ error })
})
