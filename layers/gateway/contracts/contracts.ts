import type { ContractName, Endpoint } from '../contract.ts'
import { CHAT_CONTRACT } from './chat/chat-contract.ts'
import type { Contract } from './contract.ts'
import { MESSAGES_CONTRACT } from './messages/messages-contract.ts'

const CONTRACTS: Readonly<Record<ContractName, Contract>> = { chat: CHAT_CONTRACT, messages: MESSAGES_CONTRACT }

/** An endpoint that asks no model, and a call to nowhere, have the errors of chat. */
export function contractOf({ contract = 'chat' }: Endpoint): Contract {
  return CONTRACTS[contract]
}
