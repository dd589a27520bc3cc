import { spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const OPENERS: Readonly<Record<string, readonly string[]>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
  linux: ['xdg-open'],
}

export function hasDisplay(platform: string, env: NodeJS.ProcessEnv): boolean {
  if (platform !== 'linux') return platform in OPENERS
  return Boolean(env.DISPLAY || env.WAYLAND_DISPLAY)
}

/** A page that redirects to the launch address, for its owner only: other users of this machine can read command lines. */
export async function writeLaunchFile(address: string, stack: AsyncDisposableStack): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'waybill-console-'))
  stack.defer(() => rm(folder, { recursive: true, force: true }))
  const file = join(folder, 'open.html')
  const html = `<!doctype html><meta charset="utf-8"><title>Waybill</title><meta http-equiv="refresh" content="0; url=${address}">\n`
  await writeFile(file, html, { mode: 0o600 })
  return file
}

/** A browser that cannot be opened is no failure: the address was printed. */
export function openBrowser(file: string, platform: string): void {
  const [command, ...args] = OPENERS[platform] ?? []
  if (command === undefined) return
  const child = spawn(command, [...args, file], { stdio: 'ignore', detached: true })
  child.once('error', () => {})
  child.unref()
}
