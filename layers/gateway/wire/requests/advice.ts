// A file of its own beside chat's code: loaded with the first refusal that it explains, or spares, and with the first
// request that may have sealed content or tools of a provider.
export { jsonFault } from '../../domain/basics/json-fault.ts'
export { admissionRefusal } from '../admission/admission-refusal.ts'
export { notAName, notReplayed } from '../admission/idempotency-refusal.ts'
export { unsealedFor } from '../chat/unseal.ts'
export { noReader } from '../routing/no-reader.ts'
export { offerTools } from '../routing/offer-tools.ts'
export { routesBySeal } from '../routing/routes-by-seal.ts'
export { noSuchPath } from './no-such-path.ts'
