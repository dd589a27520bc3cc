import type { ProviderEntry } from '../routing/catalog.ts'
import { providerFields } from '../routing/catalog.ts'
import { UpstreamFailure } from '../routing/upstream-failure.ts'
import type { ChatBody, ChatRequest } from './chat.ts'

export type ExtraFields = {
  readonly extra: ChatBody
  readonly dropped: readonly string[]
}

const NONE: ExtraFields = { extra: {}, dropped: [] }

/** Fields that are unknown or may cost more pass if the operator allows them, are left out by 'drop', or refused. */
export function extraFields(
  { unknown, raw }: ChatRequest,
  entry: ProviderEntry | undefined,
  allowFields: readonly string[],
): ExtraFields {
  if (unknown.length === 0) return NONE
  const allowed = new Set([...allowFields, ...providerFields(entry)])
  const extra: Record<string, unknown> = {}
  const dropped: string[] = []
  for (const { root, name, param, code, complaint } of unknown) {
    if (allowed.has(root)) extra[root] = raw[root]
    else if (entry?.unknownFields === 'drop') dropped.push(name)
    else throw new UpstreamFailure('unsupported', complaint(), { param, code })
  }
  return { extra, dropped }
}
