import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const OF_A_CLONE = /npm (run|start|ci|test)\b|npx cdk|-c stage=|infra\/(settings|catalog)\.json|git (pull|checkout)/g

/** The places in which a package's programs, pages and schema speak of scripts and files that only a clone has. */
export function wordsOfAClone(root: string, scripts: Readonly<Record<string, string>>): string[] {
  const built = readdirSync(join(root, 'dist/package'), { recursive: true, withFileTypes: true })
  const programs = built.filter((it) => it.isFile() && /\.(c?js|json)$/.test(it.name))
  const files = [join(root, 'catalog.schema.json'), ...programs.map((it) => join(it.parentPath, it.name))]
  return files.flatMap((file) => {
    let said = readFileSync(file, 'utf8')
    // The command line has package.json in it, for its version.
    for (const script of Object.values(scripts)) said = said.replace(JSON.stringify(script), '')
    return [...said.matchAll(OF_A_CLONE)].map((hit) => `${file}: …${said.slice(hit.index - 40, hit.index + 40)}…`)
  })
}
