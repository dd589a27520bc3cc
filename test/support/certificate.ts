import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

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
