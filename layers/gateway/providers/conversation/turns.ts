/** A conversation in OpenAI's messages, read once. The roles alternate and no text is blank. */
export type Conversation = { readonly system: readonly TextPart[]; readonly turns: readonly Turn[] }

export type Turn = { readonly role: 'user' | 'assistant'; readonly parts: TurnPart[] }

export type TurnPart = ContentPart | ToolCall | ToolResult | Thought
export type ContentPart = TextPart | ImagePart

export type TextPart = Cacheable & { readonly kind: 'text'; readonly text: string }

export type ImagePart = Cacheable & {
  readonly kind: 'image'
  readonly source: ImageSource
  /** The path of its address in the request, for the refusal of a dialect that does not support it. */
  readonly path: string
}

export type ImageFormat = 'jpeg' | 'png' | 'gif' | 'webp'

export type ImageSource =
  | { readonly kind: 'bytes'; readonly format: ImageFormat; readonly base64: string }
  | { readonly kind: 'address'; readonly url: string }

export type ToolCall = Cacheable & {
  readonly kind: 'toolCall'
  readonly id: string
  readonly name: string
  readonly arguments: Readonly<Record<string, unknown>>
  readonly argumentsText: string
}

export type ToolResult = Cacheable & {
  readonly kind: 'toolResult'
  readonly id: string
  readonly parts: readonly ContentPart[]
  readonly isError: boolean
}

/** A thought of Claude's, which only Claude can read again: its text with a signature, or its data. */
export type Thought = Cacheable & {
  readonly kind: 'thought'
  readonly thought: { readonly text: string; readonly signature: string } | { readonly data: string }
}

/** The caller's mark, if a provider is asked to write the prompt up to here to its cache. */
export type Cacheable = { readonly cacheMark?: unknown }
