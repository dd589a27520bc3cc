/** The changes that want an Idempotency-Key: the route of each for a key, and its body. */
export const ONCE_CHANGES = {
  create: { route: () => 'POST /keys', body: (name: string) => ({ name, credits: '3' }) },
  rotate: { route: (id: string) => `POST /keys/${id}/rotate`, body: () => ({}) },
  grant: { route: (id: string) => `POST /keys/${id}/grants`, body: () => ({ credits: '3' }) },
}
