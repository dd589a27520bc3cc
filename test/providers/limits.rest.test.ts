import { expect, test } from '@jest/globals'
import { COMPLETION_FIELDS } from '../../layers/gateway/contracts/completions/completion-request.ts'
import { MESSAGES_FIELDS } from '../../layers/gateway/contracts/messages/messages-fields.ts'
import { RESPONSES_FIELDS } from '../../layers/gateway/contracts/responses/responses-fields.ts'
import { CHAT_FIELDS } from '../../layers/gateway/wire/chat/chat-fields.ts'
import { CAP, DIALECTS, numbersIn, openDialects } from './support/every-dialect.ts'

/** Numbers that change which token is drawn, and not how many, and JSON of the caller’s own. */
const HARMLESS =
  /^(?:guided_json|seed|random_seed|top_k|min_p|top_a|typical_p|repeat_.*|repetition_penalty|mirostat.*|dynatemp_.*|dry_.*|xtc_.*)$/

test.each([
  ['chat', Object.keys(CHAT_FIELDS)],
  ['completions', COMPLETION_FIELDS.names],
  ['responses', RESPONSES_FIELDS.names],
  ['messages', MESSAGES_FIELDS.names],
] as const)('each number of %s that goes out above the cap is one that costs nothing', async (contract, fields) => {
  const { ask } = await openDialects()
  for (const name of fields) {
    if (name === 'model') continue
    for (const dialect of DIALECTS) {
      const { sent } = await ask(contract, dialect, { [name]: 10 * CAP })
      if (!sent || HARMLESS.test(name)) continue
      const above = numbersIn(sent).filter((number) => number > CAP)
      expect({ dialect, name, above }).toEqual({ dialect, name, above: [] })
    }
  }
})
