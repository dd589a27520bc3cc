import { ApiFailure, textLines } from '../../api.ts'
import { parseJson } from '../../read-json.ts'

type Usage = { readonly prompt_tokens: number; readonly completion_tokens: number }

type Chunk = {
  readonly choices?: readonly { readonly delta?: { readonly content?: string | null } }[]
  readonly usage?: Usage | null
  readonly error?: { readonly message: string; readonly code: string | null }
}

type Piece = { readonly text: string; readonly cost: string | undefined; readonly usage?: Usage }

/** The cost as a decimal: the one in `usage` is a number, which JavaScript would round. */
const COST = /^: \S+-cost (\S+)$/

export async function* readAnswer(response: Response): AsyncGenerator<Piece, void, undefined> {
  for await (const line of textLines(response)) {
    const [, cost] = COST.exec(line) ?? []
    if (cost !== undefined) yield { text: '', cost }
    if (!line.startsWith('data:')) continue
    const data = line.slice(5).trim()
    if (data === '[DONE]') return
    const { choices, usage, error } = parseJson<Chunk>(data)
    if (error) throw new ApiFailure(error.message, 502, { code: error.code })
    const text = choices?.map(({ delta }) => delta?.content ?? '').join('') ?? ''
    yield { text, cost: undefined, ...(usage && { usage }) }
  }
  throw new ApiFailure('The answer broke off before its end.', 0)
}
