import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { welcome } from '../../local/welcome.ts'
import { emptyFolder } from '../support/processes.ts'

const HOSTILE = "it's $(touch x) `touch x`; touch x"

test('the commands of the welcome run nothing that a path or a model says', () => {
  const folder = emptyFolder()
  const data = { providers: {}, models: [{ id: HOSTILE, active: true }] }
  const words = welcome(
    {
      file: { baseUrl: 'http://127.0.0.1:8787', demoKey: 'svc_live_x' },
      consoleUrl: 'http://127.0.0.1:8788/',
      local: { catalog: data, off: [] },
      inForce: { data, version: 2, pushedBy: 'me', isOperators: true },
      settings: { folder: join(folder, HOSTILE), catalogFile: join(process.cwd(), `-${HOSTILE}`) },
    } as unknown as Parameters<typeof welcome>[0],
    { strong: (text: string) => text, dim: (text: string) => text } as Parameters<typeof welcome>[1],
  )
  const commands = words.split('\n').flatMap((line) => /(?:curl |WAYBILL_DATA=).*$/.exec(line) ?? [])
  const told = execFileSync(
    'bash',
    ['-c', `curl() { printf '%s\\n' "$@"; }\nnpm() { printf '%s\\n' "$WAYBILL_DATA" "$@"; }\n${commands.join('\n')}`],
    { cwd: folder, encoding: 'utf8' },
  ).split('\n')
  expect(commands).toHaveLength(4)
  expect(told).toEqual(
    expect.arrayContaining([join(folder, HOSTILE), `./-${HOSTILE}`, 'Authorization: Bearer svc_live_x']),
  )
  expect(told.flatMap((line) => (line.startsWith('{') ? JSON.parse(line).model : []))).toEqual([HOSTILE])
  expect(readdirSync(folder)).toEqual([])
})
