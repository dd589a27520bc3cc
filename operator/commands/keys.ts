import { randomBytes } from 'node:crypto'
import { userInfo } from 'node:os'
import type { Command } from 'commander'
import { BRAND } from '../../layers/gateway/contract.ts'
import type { Key, KeySettings } from '../../layers/gateway/domain/key.ts'
import type { Nano } from '../../layers/gateway/domain/money.ts'
import { issueSecret, KEY_DEFAULTS } from '../../layers/gateway/domain/new-key.ts'
import { ulid } from '../../layers/gateway/domain/ulid.ts'
import type { ChangeResult } from '../../layers/gateway/store/change-key.ts'
import { endGrace } from '../../layers/gateway/store/end-grace.ts'
import { grantCredits } from '../../layers/gateway/store/grant-credits.ts'
import { listKeys } from '../../layers/gateway/store/list-keys.ts'
import { readKey } from '../../layers/gateway/store/read-key.ts'
import { revokeKey } from '../../layers/gateway/store/revoke-key.ts'
import { rotateKey } from '../../layers/gateway/store/rotate-key.ts'
import { updateKey } from '../../layers/gateway/store/update-key.ts'
import { cidrList, credits, keyName, scopeList, someCredits, wholeNumber } from '../arguments.ts'
import { issueKey } from '../issue-key.ts'
import { keyView } from '../key-view.ts'
import { printFields, printJson, printTable } from '../output.ts'
import { Problem } from '../problem.ts'
import type { Run } from '../run.ts'

type SettingOptions = {
  name?: string
  scopes?: KeySettings['scopes']
  rpm?: number
  daily?: number
  concurrent?: number
  allow?: string[]
}

export function keysCommand(program: Command, run: Run): void {
  const keys = program.command('keys').description('make and manage API keys')

  settingOptions(keys.command('create').description('make a key; its secret is shown once'))
    .requiredOption('--name <name>', 'what this key is for', keyName)
    .option('--credits <credits>', 'credits to begin with', credits, 0n)
    .action(
      run(async ({ tables, json, nowMs }, options: SettingOptions & { name: string; credits: Nano }) => {
        const settings = { ...KEY_DEFAULTS, name: options.name, ...settingsOf(options) }
        const by = userInfo().username
        const issued = await issueKey(
          tables,
          { settings, credits: options.credits, prefix: BRAND.keyPrefix, by },
          nowMs,
        )
        showKey(issued.key, { json, nowMs, secret: issued.secret })
      }),
    )

  keys
    .command('list')
    .description('every key, newest first')
    .action(
      run(async ({ tables, json, nowMs }) => {
        const all = await Array.fromAsync(listKeys(tables)())
        const views = all.sort((a, b) => b.createdAtMs - a.createdAtMs).map((key) => keyView(key, nowMs))
        if (json) return printJson(views)
        printTable(
          ['id', 'name', 'status', 'key', 'rpm', 'daily', 'available', 'held', 'spent'],
          views.map((key) => [
            key.id,
            key.name,
            key.status,
            `${key.prefix}…${key.lastFour}`,
            key.rpm,
            key.dailyLimit,
            key.available,
            key.held,
            key.spent,
          ]),
        )
      }),
    )

  keys
    .command('show <id>')
    .description('one key')
    .action(
      run(async ({ tables, json, nowMs }, _: object, id: string) => {
        const key = await readKey(tables)(id)
        if (!key) throw noSuchKey(id)
        showKey(key, { json, nowMs })
      }),
    )

  settingOptions(keys.command('update <id>').description('change limits; in force from the next request on'))
    .option('--name <name>', 'what this key is for', keyName)
    .action(
      run(async ({ tables, json, nowMs }, options: SettingOptions, id: string) => {
        const settings = settingsOf(options)
        if (Object.keys(settings).length === 0) throw new Problem('Say what to change, for example --rpm 120.')
        showKey(changed(await updateKey(tables)(id, settings), id), { json, nowMs })
      }),
    )

  keys
    .command('grant <id> <credits>')
    .description('add credits')
    .action(
      run(async ({ tables, json, nowMs }, _: object, id: string, amount: string) => {
        const grant = { id: ulid(nowMs, randomBytes(10)), by: userInfo().username }
        showKey(changed(await grantCredits(tables)(id, checked(someCredits, amount), grant, nowMs), id), {
          json,
          nowMs,
        })
      }),
    )

  keys
    .command('rotate <id>')
    .description('issue a new secret; the old one stays valid for 60 minutes')
    .action(
      run(async ({ tables, json, nowMs }, _: object, id: string) => {
        const { secret, stored } = issueSecret(BRAND.keyPrefix, randomBytes)
        showKey(changed(await rotateKey(tables)(id, stored, nowMs), id), { json, nowMs, secret })
      }),
    )

  keys
    .command('end-grace <id>')
    .description('end the old secret of a rotated key now')
    .action(
      run(async ({ tables, json, nowMs }, _: object, id: string) => {
        showKey(changed(await endGrace(tables)(id), id), { json, nowMs })
      }),
    )

  keys
    .command('revoke <id>')
    .description('end a key now and for good')
    .action(
      run(async ({ tables, json, nowMs }, _: object, id: string) => {
        showKey(changed(await revokeKey(tables)(id, nowMs), id), { json, nowMs })
      }),
    )
}

function settingOptions(command: Command): Command {
  return command
    .option('--scopes <list>', 'endpoints it may call: chat.completions,models.read', scopeList)
    .option('--rpm <n>', 'requests per minute', wholeNumber(1, 60_000))
    .option('--daily <n>', 'requests per UTC day', wholeNumber(1, 1_000_000_000))
    .option('--concurrent <n>', 'requests under way at once', wholeNumber(1, 1_000))
    .option('--allow <list>', 'addresses it may be used from, as CIDR ranges; empty for every address', cidrList)
}

function settingsOf(options: SettingOptions): Partial<KeySettings> {
  return {
    ...(options.name !== undefined && { name: options.name }),
    ...(options.scopes && { scopes: options.scopes }),
    ...(options.allow && { allowlist: options.allow }),
    ...(options.rpm !== undefined && { rpm: options.rpm }),
    ...(options.daily !== undefined && { dailyLimit: options.daily }),
    ...(options.concurrent !== undefined && { maxConcurrent: options.concurrent }),
  }
}

function checked<T>(parse: (text: string) => T, text: string): T {
  try {
    return parse(text)
  } catch (error) {
    throw new Problem(`'${text}' is not an amount of credits. ${(error as Error).message}`)
  }
}

function changed(result: ChangeResult, id: string): Key {
  if (result.changed) return result.key
  throw result.why === 'no_such_key' ? noSuchKey(id) : new Problem(`The key ${id} is revoked, and that is final.`)
}

function noSuchKey(id: string): Problem {
  return new Problem(`There is no key '${id}'. 'waybill keys list' shows those that exist.`)
}

type ShowOptions = { json: boolean; nowMs: number; secret?: string }

function showKey(key: Key, { json, nowMs, secret }: ShowOptions): void {
  const view = keyView(key, nowMs)
  if (json) {
    printJson({ ...view, ...(secret && { secret }) })
    return
  }
  printFields({
    id: view.id,
    name: view.name,
    status: view.status,
    key: `${view.prefix}…${view.lastFour}`,
    ...(view.previousUntil && { 'old secret': `…${view.previousLastFour} valid until ${view.previousUntil}` }),
    scopes: view.scopes.join(', '),
    'allowed from': view.allowlist.join(', ') || 'every address',
    limits: `${view.rpm} a minute, ${view.dailyLimit} a day (${view.requestsToday} today), ${view.maxConcurrent} at once (${view.requestsOpen} now)`,
    granted: view.granted,
    available: view.available,
    held: view.held,
    spent: view.spent,
    created: view.createdAt,
  })
  if (secret) console.log(`\n${secret}\n\nThis is the only time the secret is shown. Keep it safe.`)
}
