import { pack } from './pack.ts'

await pack()
