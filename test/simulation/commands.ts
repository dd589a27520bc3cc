import type { CatalogData } from '../../layers/gateway/domain/routing/catalog.ts'
import type { Provider } from '../../layers/gateway/providers/provider.ts'

/** One command on its way, and the rest of that way. */
export type Command = { readonly constructor: { readonly name: string }; readonly input: object }
export type Send = (command: Command) => Promise<Record<string, unknown>>

/** The gateway with one fault built in, which the simulation must find. */
export type Variant = {
  readonly name: string
  /** The command that the database gets in place of the right one. */
  readonly rewrite?: (command: Command, nowMs: number) => Command
  /** The node's action in place of sending. */
  readonly wrap?: (send: Send, process: string) => Send
  /** How often a write that must be sent once is sent. */
  readonly attempts?: number
  /** The catalog that the gateway goes by in place of the true one. */
  readonly catalog?: (catalog: CatalogData) => CatalogData
  /** The provider that the gateway hears in place of the real one. */
  readonly provider?: (provider: Provider) => Provider
}

export type Stored = Readonly<Record<string, unknown>>
type Named = Stored & {
  readonly pk?: string
  readonly sk?: string
  readonly part?: string
  readonly requestId?: string
}
export type Input = {
  readonly TableName?: string
  readonly Key?: Named
  readonly Item?: Named
  readonly ConditionExpression?: string | undefined
  readonly UpdateExpression?: string
  readonly ExpressionAttributeNames?: Readonly<Record<string, string>> | undefined
  readonly ExpressionAttributeValues?: Stored | undefined
  readonly TransactItems?: readonly Write[]
}
export type Write = { readonly Put?: Input; readonly Update?: Input }

export function rewritten(command: Command, changes: Input): Command {
  return Object.assign(Object.create(Object.getPrototypeOf(command)), command, {
    input: { ...command.input, ...changes },
  })
}

/** An update does something else. */
export function changing(name: string, part: string, other: string): Variant {
  return {
    name,
    rewrite: (command) => {
      const { UpdateExpression: update } = command.input as Input
      return update?.includes(part) ? rewritten(command, { UpdateExpression: update.replace(part, other) }) : command
    },
  }
}

/** The writes of one kind in a transaction become others, or none. */
export function changingWrites(
  command: Command,
  kind: keyof Write,
  change: (write: Input) => Input | undefined,
): Command {
  const { TransactItems } = command.input as Input
  if (!TransactItems) return command
  const changed = TransactItems.flatMap((item) => {
    const write = item[kind]
    const other = write && change(write)
    if (write && !other) return []
    return [other ? { [kind]: other } : item]
  })
  return rewritten(command, { TransactItems: changed })
}

export function isOf({ Item, Key }: Input, kind: string): boolean {
  return (Item ?? Key)?.pk?.startsWith(kind) === true
}

/** Some commands are answered, and never sent. */
export function unsent(name: string, isIt: (input: Input, command: string) => boolean): Variant {
  return {
    name,
    wrap: (send) => (command) => (isIt(command.input, command.constructor.name) ? Promise.resolve({}) : send(command)),
  }
}

/** Some items are not read as they are stored. */
export function reading(
  name: string,
  isIt: (input: Input, command: string) => boolean,
  change: (item: Stored) => Stored,
): Variant {
  return {
    name,
    wrap: (send) => async (command) => {
      const answer = await send(command)
      if (!isIt(command.input, command.constructor.name)) return answer
      const one = (field: string) => answer[field] !== undefined && { [field]: change(answer[field] as Stored) }
      const all = answer.Items !== undefined && { Items: (answer.Items as Stored[]).map(change) }
      return { ...answer, ...one('Item'), ...one('Attributes'), ...all }
    },
  }
}
