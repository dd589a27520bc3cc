import { isUtf8 } from 'node:buffer'
import { jsonFault } from '../../gateway/domain/basics/json-fault.ts'
import { AdminError } from './admin-error.ts'
import type { AdminRequest } from './call.ts'
import type { AdminRoute } from './route-table.ts'

const MOST_BYTES = 64 * 1024

/** Only JSON is read: an HTML form on another site cannot send it. */
export function readJson(
  { headers, body }: Pick<AdminRequest, 'headers' | 'body'>,
  { mostBytes = MOST_BYTES }: Partial<Pick<AdminRoute, 'mostBytes'>>,
): Readonly<Record<string, unknown>> {
  const [type = ''] = (headers['content-type'] ?? '').split(';')
  if (type.trim().toLowerCase() !== 'application/json') {
    throw new AdminError(
      'unsupported_media_type',
      'The body must be JSON, with the header Content-Type: application/json.',
    )
  }
  if (body.byteLength > mostBytes) {
    throw new AdminError('request_too_large', `The body may have at most ${Math.floor(mostBytes / 1024)} KiB.`)
  }
  if (!isUtf8(body)) throw new AdminError('invalid_request', 'The body is not UTF-8.')
  const value = parsed(Buffer.from(body).toString())
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  throw new AdminError('invalid_request', 'The body must be a JSON object.')
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new AdminError('invalid_request', `The body is not JSON: ${jsonFault(text)}.`)
  }
}
