import { openInstance } from '../instance.ts'
import { createModels } from './create.ts'

export const handler = createModels(openInstance())
