import { openInstance } from '../instance.ts'
import { createSweep } from './create.ts'

export const handler = createSweep(openInstance())
