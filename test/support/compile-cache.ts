import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Many processes load the same files: they share what the first has compiled. */
export const FASTER = { NODE_COMPILE_CACHE: join(tmpdir(), 'waybill-compiled') }
