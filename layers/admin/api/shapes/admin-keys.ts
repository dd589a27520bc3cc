import { z } from 'zod'
import { credits, kind, moment, type Told, text, texts } from './parts.ts'

export const AdminKey = z.object({
  object: kind('admin_key'),
  id: text('The id of the admin key.'),
  name: text('Its name.'),
  status: z.enum(['active', 'suspended', 'revoked']).describe('A revoked one is refused for good.'),
  prefix: text('The beginning of its secret.'),
  last_four: text('The last four characters of its secret.'),
  previous: z
    .object({
      last_four: text('The last four characters of the old secret.'),
      expires_at: moment('The end of the old secret.'),
    })
    .nullable()
    .describe('The secret before the last rotation, while it is valid; null if there is none.'),
  scopes: texts('Its holder may do this.'),
  allowlist: texts('The CIDR ranges from which it works.'),
  daily_grant: credits('The most that it grants on a UTC day.'),
  granted_today: credits('What it has granted on this UTC day.'),
  created_at: moment('When it was made.'),
})
export type AdminKeyShape = Told<typeof AdminKey>
