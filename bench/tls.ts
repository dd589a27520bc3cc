import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer } from 'node:tls'

export type Certificate = Disposable & { readonly file: string; readonly key: Buffer; readonly cert: Buffer }

/** Signed by itself, for `localhost` and no address; undefined where there is no openssl. */
export function makeCertificate(): Certificate | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'waybill-certificate-'))
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const args = 'req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost'
  try {
    execFileSync('openssl', [...args.split(' '), '-keyout', key, '-out', cert], { stdio: 'pipe' })
  } catch (error) {
    rmSync(folder, { recursive: true })
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  return {
    file: cert,
    key: readFileSync(key),
    cert: readFileSync(cert),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true }),
  }
}

/** The https address of a server that is there by a plain one, as providers and DynamoDB are called in AWS. */
export async function overTls(url: string, { key, cert }: Certificate, stack: AsyncDisposableStack): Promise<string> {
  const { hostname, port, pathname } = new URL(url)
  const sockets = new Set<Socket>()
  const server = createServer({ key, cert, ALPNProtocols: ['http/1.1'] }, (secure) => {
    const plain = connect(Number(port), hostname)
    for (const [socket, other] of [
      [secure, plain],
      [plain, secure],
    ] as const) {
      sockets.add(socket.setNoDelay())
      socket.on('error', () => other.destroy()).once('close', () => sockets.delete(socket))
    }
    secure.pipe(plain).pipe(secure)
  })
  server.on('tlsClientError', () => {})
  server.listen(0)
  await once(server, 'listening')
  stack.defer(async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => server.close(resolve))
  })
  return `https://localhost:${(server.address() as AddressInfo).port}${pathname === '/' ? '' : pathname}`
}
