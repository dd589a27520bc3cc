import { openInstance } from '../instance.ts'
import { createFallback } from './create.ts'

export const handler = createFallback(openInstance())
