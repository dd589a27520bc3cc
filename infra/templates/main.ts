import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import manifest from '../../package.json' with { type: 'json' }
import { releaseFiles } from './templates.ts'

const [folder = 'release'] = process.argv.slice(2)
mkdirSync(folder, { recursive: true })
for (const [name, data] of releaseFiles(manifest.version)) writeFileSync(join(folder, name), data)
