import { execFile, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { ROOT } from './cdk-environment.ts'

const PYTHON = join(ROOT, '.venv', 'bin', 'python')
const REQUIREMENTS = 'test/sdk/python/requirements.txt'

/** The documented command that installs the libraries. */
export const INSTALL = `python3 -m venv .venv && .venv/bin/pip install -r ${REQUIREMENTS}`

const LINES = readFileSync(join(ROOT, REQUIREMENTS), 'utf8').trim().split('\n')

/** Modules of the requirements. */
export const PYTHON_MODULES: readonly string[] = LINES.map(moduleOf)

/** Prints the lines of the requirements that are installed in exactly that version. */
const PROBE = `
import sys
from importlib.metadata import distributions
installed = {f"{it.metadata['Name']}=={it.version}" for it in distributions()}
print("\\n".join(line for line in sys.argv[1:] if line in installed))
`

/** Modules of the requirements that cannot be used here. */
export function missingModules(): readonly string[] {
  const { stdout } = spawnSync(PYTHON, ['-c', PROBE, ...LINES], { encoding: 'utf8' })
  const installed = (stdout ?? '').split('\n')
  return LINES.filter((line) => !installed.includes(line)).map(moduleOf)
}

/** Runs code and returns its output. A failure has the error that Python printed. */
export async function runPython(code: string, env: Readonly<Record<string, string>>): Promise<string> {
  const { stdout } = await promisify(execFile)(PYTHON, ['-c', code], { env: { PATH: process.env.PATH, ...env } })
  return stdout
}

function moduleOf(line: string): string {
  return (line.split('==')[0] ?? '').replaceAll('-', '_')
}
