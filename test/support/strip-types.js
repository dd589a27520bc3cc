import { stripTypeScriptTypes } from 'node:module'
import { pathToFileURL } from 'node:url'

export default {
  // A URL, as V8's coverage is read by it.
  process: (source, path) => ({
    code: stripTypeScriptTypes(source, { mode: 'strip', sourceUrl: pathToFileURL(path).href }),
  }),
}
