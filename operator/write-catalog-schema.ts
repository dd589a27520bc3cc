import { writeFileSync } from 'node:fs'
import { catalogSchema } from './catalog-schema.ts'

writeFileSync(new URL('../catalog.schema.json', import.meta.url), `${JSON.stringify(catalogSchema(), null, 2)}\n`)
