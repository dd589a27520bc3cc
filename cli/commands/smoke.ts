import type { Command } from 'commander'
import type { SmokeOptions } from '../smoke/smoke.ts'
import type { Run } from './run.ts'

export function smokeCommand(program: Command, run: Run): void {
  program
    .command('smoke')
    .description(
      'call every endpoint with a key made for it, and check the answers and the books; exits with 1 if one is wrong',
    )
    .option('--model <id>', 'the model to ask; without it the first in the catalog')
    .option('--origin <url...>', 'addresses behind CloudFront, which must be closed to everybody else')
    .action(
      run(async (session, options: SmokeOptions) => {
        const { smoke } = await import('../smoke/smoke.ts')
        if (!(await smoke(session, options))) session.fail()
      }),
    )
}
