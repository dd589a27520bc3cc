import { openInstance } from '../instance.ts'
import { createUsage } from './create.ts'

export const handler = createUsage(openInstance())
