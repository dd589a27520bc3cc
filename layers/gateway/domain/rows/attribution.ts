import type { ContractName } from '../../endpoints.ts'
import { BRAND } from '../../names.ts'
import type { ChatBody } from '../chat/chat.ts'

/** The end user and the tags of a request, as its caller gave them. They are claims: nothing is limited or charged by them. */
export type Attribution = {
  readonly user?: string | undefined
  readonly tags?: Readonly<Record<string, string>> | undefined
}

/** Anthropic takes as many for `metadata.user_id`, and its own clients send more than a hundred. */
export const MOST_USER_CHARS = 256
export const MOST_TAG_CHARS = 64
export const MOST_TAGS = 8

/** A secret that was put in the wrong field is in no row. */
const SECRET = new RegExp(`(${BRAND.keyPrefix}|${BRAND.adminKeyPrefix})\\w{20}|\\bsk-[\\w-]{20}`)

/** A value that cannot be kept as it came is left out, and never cut: two users could become one. */
export function attributionOf(raw: ChatBody, contract: ContractName | undefined): Attribution {
  const metadata = fieldsOf(raw.metadata)
  if (contract === 'messages') return { user: claim(metadata.user_id, MOST_USER_CHARS) }
  const user = claim(raw.user, MOST_USER_CHARS) ?? claim(raw.safety_identifier, MOST_USER_CHARS)
  return { user, tags: tagsIn(metadata) }
}

function tagsIn(metadata: ChatBody): Attribution['tags'] {
  const tags = Object.entries(metadata).filter(
    ([name, value]) => claim(name, MOST_TAG_CHARS) !== undefined && claim(value, MOST_TAG_CHARS) !== undefined,
  ) as [string, string][]
  return tags.length === 0 ? undefined : Object.fromEntries(tags.slice(0, MOST_TAGS))
}

function claim(value: unknown, mostChars: number): string | undefined {
  if (typeof value !== 'string' || value === '' || value.length > mostChars) return undefined
  return value.isWellFormed() && !SECRET.test(value) ? value : undefined
}

function fieldsOf(value: unknown): ChatBody {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as ChatBody) : {}
}
