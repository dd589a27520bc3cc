import { writeFileSync } from 'node:fs'
import { catalogSchema } from '../../layers/catalog/catalog-schema.ts'
import { adminOpenApi } from './admin-openapi.ts'
import { coveragePage } from './coverage-page.ts'
import { publicOpenApi } from './public-openapi.ts'

const FILES = {
  'catalog.schema.json': catalogSchema(),
  'docs/admin-openapi.json': adminOpenApi(),
  'docs/openapi.json': publicOpenApi(),
}

for (const [path, content] of Object.entries(FILES)) {
  writeFileSync(new URL(`../../${path}`, import.meta.url), `${JSON.stringify(content, null, 2)}\n`)
}
writeFileSync(new URL('../../docs/coverage.md', import.meta.url), coveragePage())
