import { mkdir, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { parseEnv } from 'node:util'
import { shellPath, shellWord } from '../../layers/gateway/domain/basics/shell-word.ts'
import { CliError, printJson } from '../../layers/terminal/output.ts'
import type { Screen } from '../../layers/terminal/terminal.ts'
import { option, upTo } from './arguments.ts'
import type { CommandRow, Here } from './open-session.ts'

type ImportOptions = {
  readonly keys: readonly string[]
  readonly out: string
  readonly secrets?: boolean
  readonly env?: true | string
}

const MOST_CONFIG_BYTES = 1024 * 1024

const KEYS_WORDS = "an answer of LiteLLM's /key/list?return_full_object=true; may be given more than once"
const ENV_WORDS = 'take addresses and regions that the config has in variables from this file, or from the environment'

export const IMPORT: CommandRow = {
  words: 'make files for this gateway of what another one has; pushes nothing',
  commands: {
    'litellm <config>': {
      words: "make a catalog of LiteLLM's config.yaml, and commands that make its keys; says what has no counterpart",
      options: [
        option('--keys <file>', KEYS_WORDS, upTo(1000, 'files'), []),
        option('--out <folder>', 'a new folder for the files', undefined, 'imported'),
        option('--secrets', 'providers’ keys in Secrets Manager, as a stage needs them, in place of variables'),
        option('--env [file]', ENV_WORDS),
      ],
      async here(place: Here, options: ImportOptions, config: string) {
        const result = await importLitellm(config, options, place)
        if (place.json) printJson(place.out, { object: 'import', ...result })
        else show(place.out, result)
      },
    },
  },
}

async function importLitellm(config: string, options: ImportOptions, { terminal, nowMs }: Here) {
  const { folder, env } = terminal
  const { readExactJson, utf8Of } = await import('../reading/exact.ts')
  const { readYaml, withIncluded } = await import('../litellm/read-config.ts')
  const { importModels } = await import('../litellm/models.ts')
  const { importKeys } = await import('../litellm/keys.ts')
  const { Omissions } = await import('../litellm/omissions.ts')
  const { validCatalog } = await import('./read-catalog-file.ts')
  const { readSource } = await import('../reading/read-source.ts')
  const read = async <T>(file: string, mostBytes: number, as: (text: string, name: string) => T) =>
    as(utf8Of(await readSource(file, { folder, nowMs, mostBytes })), `'${file}'`)
  const omissions = new Omissions()
  const onTwice = (name: string) => omissions.add('a name stands twice in one place, and the last one is taken', name)
  const whole = await withIncluded(config, folder, (file) =>
    read(file, MOST_CONFIG_BYTES, (text, name) => readYaml(text, name, onTwice)),
  )
  const environment =
    typeof options.env === 'string' ? await read(options.env, MOST_CONFIG_BYTES, parseEnv) : options.env && env
  const imported = importModels(whole, { secrets: options.secrets === true, environment }, omissions)
  const lists = await Promise.all(options.keys.map((file) => read(file, 32 * MOST_CONFIG_BYTES, readExactJson)))
  const keys = lists.flatMap((list) => importKeys(list, nowMs, omissions))
  const { models } = validCatalog(imported.catalog, 'No catalog can be made, because it would not be valid')
  if (models.length === 0) {
    throw new CliError([`'${config}' has no model that can be taken over.`, ...omissions.lines()].join('\n'))
  }
  const catalog = join(options.out, 'catalog.json')
  const script = join(options.out, 'keys.sh')
  await writeNew(resolve(folder, options.out), options.out, {
    'catalog.json': `${JSON.stringify(imported.catalog, null, 2)}\n`,
    ...(keys.length > 0 && { 'keys.sh': `${keys.join('\n')}\n` }),
  })
  return {
    files: [catalog, ...(keys.length > 0 ? [script] : [])],
    models: models.length,
    keys: keys.length,
    needs: imported.needs,
    no_counterpart: omissions.lines(),
    next: [
      ...imported.secrets.map(
        ({ name, host }) =>
          `aws secretsmanager create-secret --name ${shellWord(`waybill/STAGE/${name}`)} --secret-string ${shellWord(`{"key": "…", "hosts": [${JSON.stringify(host)}]}`)}`,
      ),
      ...(imported.needs.length > 0 ? [`waybill catalog prices ${shellPath(catalog)} --from LIST --markup 0`] : []),
      `waybill catalog check ${shellPath(catalog)}`,
      `waybill catalog push ${shellPath(catalog)} ${options.secrets ? '--stage STAGE' : '--local'}`,
      ...(keys.length > 0 ? [`sh ${shellPath(script)} ${options.secrets ? '--stage STAGE' : '--local'}`] : []),
    ],
  }
}

/** No file is overwritten, and only their owner reads them. */
async function writeNew(path: string, folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  try {
    await mkdir(path, { recursive: false, mode: 0o700 })
    for (const [name, text] of Object.entries(files))
      await writeFile(join(path, name), text, { flag: 'wx', mode: 0o600 })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const why = code === 'EEXIST' ? 'it is there already: remove it, or name another by --out' : code
    throw new CliError(`The folder '${folder}' cannot be made: ${why}.`)
  }
}

type Result = Awaited<ReturnType<typeof importLitellm>>

function show(out: Screen, { files, models, keys, needs, no_counterpart, next }: Result): void {
  out.log(`${files.join(' and ')}: ${models} models${keys > 0 ? `, ${keys} keys` : ''}. Nothing was pushed.`)
  for (const line of needs) out.log(`needs: ${line}; it is not active until you say so`)
  for (const line of no_counterpart) out.log(`not taken over: ${line}`)
  out.log('Next:')
  for (const line of next) out.log(`  ${line}`)
}
