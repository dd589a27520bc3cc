import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import catalog from '../../infra/catalog.json' with { type: 'json' }
import { documentOf, IS_PACKAGE, SEED_FILE, SETTINGS_FILE } from '../../layers/terminal/how-to-run.ts'
import { CliError } from '../../layers/terminal/output.ts'
import type { CommandRow, Here } from './open-session.ts'

/** JSON has no comments, so each file has a remark for people. */
const FILES: Readonly<Record<string, object>> = {
  'waybill.json': {
    $comment: `The settings of each stage that differ from the defaults; ${documentOf('deploy.md')}, "Settings", has them all. Change alarmEmail in prod, or remove it: it gets the alarms. Every deployment reads this file, so keep it in your version control.`,
    dev: {},
    prod: { alarmEmail: 'you@example.com' },
  },
  'catalog.json': {
    $schema: './node_modules/waybill/catalog.schema.json',
    $comment:
      'The models of the first deployment; later ones come by "waybill catalog push catalog.json --stage dev". Change: the providers you have a contract with; the models your callers may use, each with what you charge in credits for a million tokens (price), its limits, and its routes in the order in which they are tried. secret:openai is the secret waybill/STAGE/openai in Secrets Manager; on this machine (npx waybill start --catalog catalog.json) write env:OPENAI_API_KEY in its place. No key belongs into this file.',
    providers: catalog.providers,
    models: catalog.models,
  },
}

export const INIT: CommandRow = {
  words: `write ${Object.keys(FILES).join(' and ')} into this folder, to deploy from; leaves files that are there`,
  async here({ out, terminal }: Here) {
    if (!IS_PACKAGE) {
      throw new CliError(
        `'init' is for a folder with the package. A clone has its own ${SETTINGS_FILE} and ${SEED_FILE}.`,
      )
    }
    for (const [name, content] of Object.entries(FILES)) {
      const isNew = await isWritten(join(terminal.folder, name), `${JSON.stringify(content, null, 2)}\n`)
      const outcome = isNew ? 'written: its $comment says what to change' : 'there already, and stays as it is'
      out.log(`${name} is ${outcome}.`)
    }
    out.log("Next: 'npx waybill deploy --stage dev', or 'npx waybill' for a gateway on this machine.")
  },
}

/** False if there is such a file: a second init loses nobody's work. */
async function isWritten(file: string, text: string): Promise<boolean> {
  try {
    await writeFile(file, text, { flag: 'wx' })
    return true
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') return false
    throw new CliError(`'${file}' cannot be written (${code}). Run this in a folder of yours.`)
  }
}
