import type { ContractName, Endpoint } from '../contract.ts'
import { CHAT_CONTRACT } from './chat/chat-contract.ts'
import { COMPLETIONS_CONTRACT } from './completions/completions-contract.ts'
import type { Contract, Door } from './contract.ts'
import { EMBEDDINGS_DOOR } from './embeddings/embeddings-door.ts'
import { MESSAGES_CONTRACT } from './messages/messages-contract.ts'
import { RESPONSES_CONTRACT } from './responses/responses-contract.ts'

type NoWords = 'embeddings'

const CONTRACTS: Readonly<Record<Exclude<ContractName, NoWords>, Contract>> = {
  chat: CHAT_CONTRACT,
  responses: RESPONSES_CONTRACT,
  messages: MESSAGES_CONTRACT,
  completions: COMPLETIONS_CONTRACT,
}

const DOORS: Readonly<Record<ContractName, Door>> = { ...CONTRACTS, embeddings: EMBEDDINGS_DOOR }

/** An endpoint that asks no model, and a call to nowhere, have the errors of chat. */
export function doorOf({ contract = 'chat' }: Endpoint): Door {
  return DOORS[contract]
}

/** The contract in which an answer is written that has words. */
export function contractOf({ contract = 'chat' }: Endpoint): Contract {
  if (contract === 'embeddings') throw new Error('An embedding has no words to be written.')
  return CONTRACTS[contract]
}
