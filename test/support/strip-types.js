import { stripTypeScriptTypes } from 'node:module'

export default {
  process: (source, path) => ({ code: stripTypeScriptTypes(source, { mode: 'strip', sourceUrl: path }) }),
}
