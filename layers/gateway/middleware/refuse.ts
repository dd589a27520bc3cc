import type { GatewayError } from '../domain/gateway-error.ts'
import type { AdmittedRequest } from '../request.ts'
import type { Gate } from './gate.ts'

type NotRefused<Request> = Request extends { refusal: GatewayError } ? never : Request

/** The last gate: a refusal that was found on the way is answered now that it has spent its token. */
export function refuse<Request extends AdmittedRequest>(): Gate<Request, NotRefused<Request>> {
  return {
    pass: (request) => {
      if (request.refusal) throw request.refusal
      return request as NotRefused<Request>
    },
  }
}
