import { COMPLETIONS_CONTRACT } from './completions/completions-contract.ts'
import { MESSAGES_CONTRACT } from './messages/messages-contract.ts'
import { RESPONSES_CONTRACT } from './responses/responses-contract.ts'

// A file of its own beside chat's code: loaded with the first call in one of these contracts.
export const LAZY_CONTRACTS = {
  responses: RESPONSES_CONTRACT,
  messages: MESSAGES_CONTRACT,
  completions: COMPLETIONS_CONTRACT,
}
