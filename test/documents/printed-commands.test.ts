import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from '@jest/globals'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** The beginning of a command, or an option with a value behind it. */
const COMMAND =
  /\b(aws [a-z0-9-]+ [a-z]|curl |npm |npx |yarn |sh |cdk |waybill [a-z])|\$\{(WAYBILL|START|START_WITH|DEPLOY|operate\w*|deployOf|bootstrapOf)\b|<Command>|\s--?[a-zA-Z][\w-]*[ =]["']?\$\{/
const QUOTED = /\$\{shell(Word|Path)\((`[^`]*`|\((\([^()]*\)|[^()])*\)|[^`()])*\)\}/g
const COMMENT = /^\s*(\/\/|\/?\*).*$/
/** Constants of ours, and functions that quote. */
const OURS =
  /^(WAYBILL|START|START_WITH|DEPLOY|NEW_TABLES|IS_PACKAGE|(deploy|bootstrap)Of\(shellWord\(|operateWith\(|operate$)/

function unquotedIn(line: string): string[] {
  const rest = line.replace(COMMENT, '').replace(QUOTED, "''")
  const from = rest.search(COMMAND)
  if (from < 0) return []
  return [...rest.slice(from).matchAll(/\$\{([^}]*)/g)].map(([, value = '']) => value).filter((it) => !OURS.test(it))
}

test('a scan finds a value in a command that is not quoted', () => {
  const found = (line: string) => unquotedIn(line.replaceAll('@', '$'))
  const told = [
    '`aws s3 ls @{name}`',
    '`@{WAYBILL} keys show @{id}`',
    '`run waybill audit --key @{shellWord(a)} @{b}`',
    '`update-table --table-name @{name}`',
    '<Command>{`keys grant @{id}`}</Command>',
    "`curl @{url} -d '@{body}'`",
    "`Run '@{deployOf(name)}'`",
  ].map(found)
  expect(told).toEqual([['name'], ['id'], ['b'], ['name'], ['id'], ['url', 'body'], ['deployOf(name)']])
  expect(found('`@{WAYBILL} keys show @{shellWord(`@{a}/@{f(b)}`)} @{shellWord(f(a))}`')).toEqual([])
})

// A value that is new here passes through shellWord or shellPath of domain/shell-word.ts, or is one that we made.

test('every value in a command that is printed is quoted, but for these', () => {
  const files = globSync('{cli,console,functions,infra,layers,local}/**/*.{ts,tsx}', { cwd: ROOT })
  const found = files
    .toSorted()
    .flatMap((file) =>
      readFileSync(`${ROOT}/${file}`, 'utf8')
        .split('\n')
        .flatMap((line) => unquotedIn(line).map((value) => `${file} ${value}`)),
    )
    .toSorted()
  expect(found).toEqual(
    [
      // Numbers.
      'console/pages/catalog/put-in-force.tsx to',
      'local/start.ts other',
      // Names and words of ours.
      "infra/deploy/run-infra.ts PEERS.join(' ')",
      'infra/settings.ts SEED_FILE',
      'cli/commands/programs.ts name',
      "cli/commands/import.ts options.secrets ? '--stage STAGE' : '--local'",
      "cli/commands/import.ts options.secrets ? '--stage STAGE' : '--local'",
      // Words about the command, before or after it.
      'local/start.ts name',
      'local/start.ts new URL(baseUrl).origin',
      'cli/smoke/stage-checks.ts stack',
      'infra/preflight/checks.ts meanwhile',
      // Quoted by those who call.
      ...Array(4).fill('layers/terminal/how-to-run.ts stage'),
      // Each is quoted where the list is made.
      "cli/litellm/keys.ts words.join(' ')",
    ].toSorted(),
  )
})
