import { execFile, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const PYTHON = join(ROOT, '.venv', 'bin', 'python')
const REQUIREMENTS = 'test/sdk/python/requirements.txt'

/** The documented command that installs the libraries. */
export const INSTALL = `python3 -m venv .venv && .venv/bin/pip install -r ${REQUIREMENTS}`

/** Fails unless the library of this line of the requirements can be loaded in exactly that version. */
const PROBE = `
import importlib, importlib.metadata, sys
name, version = sys.argv[1].split("==")
importlib.import_module(name.replace("-", "_"))
sys.exit(importlib.metadata.version(name) != version)
`

const LINES = readFileSync(join(ROOT, REQUIREMENTS), 'utf8').trim().split('\n')

/** Modules of the requirements. */
export const PYTHON_MODULES: readonly string[] = LINES.map((line) => moduleOf(line))

/** Those that cannot be used here. */
export function missingModules(): readonly string[] {
  return LINES.filter((line) => spawnSync(PYTHON, ['-c', PROBE, line], { stdio: 'ignore' }).status !== 0).map(moduleOf)
}

/** Runs code and returns its output. A failure has the error that Python printed. */
export async function runPython(code: string, env: Readonly<Record<string, string>>): Promise<string> {
  const { stdout } = await promisify(execFile)(PYTHON, ['-c', code], { env: { PATH: process.env.PATH, ...env } })
  return stdout
}

function moduleOf(line: string): string {
  return (line.split('==')[0] ?? '').replaceAll('-', '_')
}
