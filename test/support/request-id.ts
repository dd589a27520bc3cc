import { randomBytes } from 'node:crypto'
import { makeRequestId } from '../../layers/gateway/domain/basics/time.ts'

/** The id of a request that began at this moment. */
export const requestIdAt = (ms: number): string => makeRequestId(ms, randomBytes(10))
