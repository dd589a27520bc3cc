import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { missingModules } from './python.ts'

type Program = {
  readonly name: string
  readonly isHere: () => boolean
  /** The tests that are left out where it is missing. */
  readonly tests: string
}

const BROWSERS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

/** Debian's package, or none: playwright-core brings no browser of its own. */
export const BROWSER_PATH = process.env.WAYBILL_CHROMIUM ?? BROWSERS.find((path) => existsSync(path))

/** Programs that some tests need and that npm does not install. */
export const PROGRAMS: readonly Program[] = [
  { name: 'Java', isHere: hasJava, tests: "the comparison of the local database with Amazon's" },
  { name: 'Chromium', isHere: () => BROWSER_PATH !== undefined, tests: 'the console and an SDK in a browser' },
  { name: 'curl', isHere: hasCurl, tests: 'the documented calls by curl' },
  { name: 'openssl', isHere: () => runs('openssl', 'version'), tests: 'connections over TLS' },
  {
    name: 'a library for Python (docs/development.md, "Run and test")',
    isHere: () => missingModules().length === 0,
    tests: 'the documented Python that needs it',
  },
]

export function hasJava(): boolean {
  return runs('java', '-version')
}

export function hasCurl(): boolean {
  return runs('curl', '--version')
}

function runs(program: string, argument: string): boolean {
  return spawnSync(program, [argument], { stdio: 'ignore' }).status === 0
}
