import { expect } from '@jest/globals'
import type { List } from '../../../layers/admin/api/shapes/answers.ts'
import type { Ended } from '../../support/processes.ts'
import { openBoth, openStage } from '../../support/stack.ts'

/** Commands on one gateway: each is done and tells its output, or is refused and tells why. */
export function commandsOn(run: (args: readonly string[]) => Promise<Ended>) {
  async function shown(...args: string[]): Promise<string> {
    // Tests use names and models again that a person would be asked about.
    const { code, stdout, stderr } = await run([...args, '--yes'])
    expect({ args, code, stderr: code === 0 ? '' : stderr }).toEqual({ args, code: 0, stderr: '' })
    return stdout
  }

  async function json<T = Record<string, unknown>>(...args: string[]): Promise<T> {
    return JSON.parse(await shown(...args, '--json')) as T
  }

  async function list<T = Record<string, unknown>>(...args: string[]): Promise<readonly T[]> {
    const { object, data } = await json<List<T>>(...args)
    expect(object).toBe('list')
    return data
  }

  async function refused(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await run(args)
    expect({ args, code, stdout }).toEqual({ args, code: 1, stdout: '' })
    return stderr
  }

  return { run: (...args: string[]) => run(args), shown, json, list, refused }
}

/** A stage for the tests of a file, with its gateway and the commands on it. */
export async function stageOfFile() {
  const { gateway, upstream } = await openBoth()
  const stage = await openStage(gateway.tables, gateway.baseUrl)
  const commands = commandsOn((args) => stage.waybill([...args, '--stage', 'dev']))
  return { opened: { gateway, upstream, stage }, ...commands }
}
