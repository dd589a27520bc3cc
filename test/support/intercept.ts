import type { Tables } from '../../layers/gateway/store/tables.ts'

export type Interceptor = (send: () => Promise<unknown>, commandName: string, input: unknown) => Promise<unknown>

/** Puts something between the gateway and DynamoDB, in front of every command; call what it returns to take it away. */
export function intercept(tables: Tables, interceptor: Interceptor): () => void {
  const name = `intercept-${Math.random()}`
  for (const { middlewareStack } of [tables.client, tables.clientWithoutRetries]) {
    middlewareStack.add(
      (next, context) => async (args) =>
        (await interceptor(() => next(args), context.commandName ?? '', args.input)) as Awaited<
          ReturnType<typeof next>
        >,
      { step: 'initialize', priority: 'high', name },
    )
  }
  return () => {
    for (const { middlewareStack } of [tables.client, tables.clientWithoutRetries]) middlewareStack.remove(name)
  }
}
