// A file of its own beside chat's code: loaded with the first refusal that it explains.
export { jsonFault } from '../domain/json-fault.ts'
export { admissionRefusal } from './admission-refusal.ts'
export { noSuchPath } from './no-such-path.ts'
