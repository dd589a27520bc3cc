import { createHmac, randomBytes } from 'node:crypto'
import { answering, message, thought } from '../providers/responses/responses-upstream.ts'
import { openUpstream } from './stack.ts'
import { type Reply, status, type Upstream } from './upstream.ts'

type Item = { readonly type?: unknown; readonly encrypted_content?: unknown }

export type SealingUpstream = Upstream & {
  readonly seal: (content: string) => string
  readonly isOwn: (item: Item) => boolean
  /** How it answers while it is up: with a sealed thought and a text. */
  readonly answer: Reply
}

const SEALED: ReadonlySet<unknown> = new Set(['reasoning', 'compaction'])

/** An upstream that signs what it encrypts with its own secret, and refuses all else as OpenAI does. */
export async function openSealingUpstream(): Promise<SealingUpstream> {
  const secret = randomBytes(32)
  const signed = (content: string) => createHmac('sha256', secret).update(content).digest('base64url')
  const seal = (content: string) => `gAAAA${content}_${signed(content)}`
  const isOwn = ({ encrypted_content: sealed }: Item) => {
    const [, content = ''] = /^gAAAA([^_]+)_/.exec(String(sealed)) ?? []
    return sealed === seal(content)
  }
  let count = 0
  const answer: Reply = (response, request) => {
    const items = Array.isArray(request.body.input) ? (request.body.input as Item[]) : []
    const foreign = items.find((item) => SEALED.has(item.type) && !isOwn(item))
    if (foreign) return REFUSED(response, request)
    count += 1
    return answering([thought(`rs_${count}`, seal(`thought${count}`), 'Hm.'), message('Hello')])(response, request)
  }
  return Object.assign(await openUpstream(answer), { seal, isOwn, answer })
}

const REFUSED = status(400, {
  error: {
    message: 'The encrypted content for item rs_1 could not be verified.',
    type: 'invalid_request_error',
    param: null,
    code: 'invalid_encrypted_content',
  },
})
