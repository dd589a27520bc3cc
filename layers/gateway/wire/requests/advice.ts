// A file of its own beside chat's code: loaded with the first refusal that it explains, or spares.
export { jsonFault } from '../../domain/basics/json-fault.ts'
export { admissionRefusal } from '../admission/admission-refusal.ts'
export { notAName, notReplayed } from '../admission/idempotency-refusal.ts'
export { noReader } from '../routing/no-reader.ts'
export { noSuchPath } from './no-such-path.ts'
