import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { FASTER } from './compile-cache.ts'

export const ROOT = fileURLToPath(new URL('../..', import.meta.url))
export const BIN = join(ROOT, 'node_modules', '.bin')

const NO_SETTINGS = fileURLToPath(new URL('../infra/fixtures/no-settings.json', import.meta.url))
const NOWHERE = 'http://127.0.0.1:1'

/** No account, no network and nobody's settings. */
export function cdkEnvironment(home: string): Record<string, string> {
  return {
    // As npm sets it for a script.
    PATH: [BIN, process.env.PATH].join(delimiter),
    HOME: home,
    WAYBILL_SETTINGS: NO_SETTINGS,
    HTTP_PROXY: NOWHERE,
    HTTPS_PROXY: NOWHERE,
    http_proxy: NOWHERE,
    https_proxy: NOWHERE,
    AWS_EC2_METADATA_DISABLED: 'true',
    CDK_DISABLE_VERSION_CHECK: '1',
    CDK_DISABLE_CLI_TELEMETRY: 'true',
    NO_UPDATE_NOTIFIER: '1',
    CI: 'true',
    ...FASTER,
  }
}
