import type { Command } from 'commander'
import { ADMIN_SCOPES } from '../../layers/gateway/domain/admin-key.ts'
import type { CreateOptions } from './admin-key-actions.ts'
import { adminScopeList, credits, keyName, someCidrs } from './arguments.ts'
import type { Run } from './run.ts'

// They work on the tables, whose client of AWS's SDK is loaded with the first command that needs it.
const actions = () => import('./admin-key-actions.ts')

export function adminKeysCommand(program: Command, run: Run): void {
  const keys = program
    .command('admin-keys')
    .description('make and end keys by which programs outside AWS call the admin API of a stage')

  keys
    .command('create')
    .description('make an admin key; its secret is shown once')
    .requiredOption('--name <name>', 'the program that it is for', keyName)
    .requiredOption('--scopes <list>', `what it may do: ${ADMIN_SCOPES.join(',')}`, adminScopeList)
    .requiredOption('--allow <list>', 'addresses it may be used from, as CIDR ranges', someCidrs)
    .requiredOption('--daily-grant <credits>', 'the most credits that it grants on a UTC day', credits)
    .action(run(async (session, options: CreateOptions) => (await actions()).createAction(session, options)))

  keys
    .command('list')
    .description('every admin key, newest first')
    .action(run(async (session) => (await actions()).listAction(session)))

  keys
    .command('rotate <admin-key>')
    .description('issue a new secret; the old one stays valid for 60 minutes')
    .action(run(async (session, _, named: string) => (await actions()).rotateAction(session, named)))

  keys
    .command('revoke <admin-key>')
    .description('end an admin key now and for good')
    .action(run(async (session, _, named: string) => (await actions()).revokeAction(session, named)))
}
