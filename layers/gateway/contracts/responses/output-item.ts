/** Sends an event to the client. Its number in the stream is added. */
export type Emit = (type: string, fields: Readonly<Record<string, unknown>>) => void

export type ItemStatus = 'completed' | 'incomplete'

export type ItemPosition = { readonly output_index: number; readonly item_id: string }

export type OutputItem = {
  /** Sends the event of its end. Nothing is added to it afterwards. */
  close(status: ItemStatus): void
  /** The item as it stands in the response. */
  readonly shown: Readonly<Record<string, unknown>>
}
