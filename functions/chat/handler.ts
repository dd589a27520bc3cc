import { openInstance } from '../instance.ts'
import { createChat } from './create.ts'

export const handler = createChat(openInstance())
