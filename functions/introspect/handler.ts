import { openInstance } from '../instance.ts'
import { createIntrospect } from './create.ts'

export const handler = createIntrospect(openInstance())
