import type { ContractName, Endpoint } from '../endpoints.ts'
import { CHAT_CONTRACT } from './chat/chat-contract.ts'
import type { Contract, RequestContract } from './contract.ts'
import { EMBEDDINGS_CONTRACT } from './embeddings/embeddings-contract.ts'
import type { MORE_CONTRACTS } from './more-contracts.ts'

type More = Readonly<Record<Exclude<ContractName, 'chat' | 'embeddings'>, Contract>>

let more: More | undefined

/** Loads the contract of an endpoint, if it is not there yet; undefined if there is nothing to wait for. */
export function loadContract({ contract = 'chat' }: Endpoint): Promise<void> | undefined {
  if (contract === 'chat' || contract === 'embeddings' || more) return undefined
  return import('#contracts').then((loaded: { MORE_CONTRACTS: typeof MORE_CONTRACTS }) => {
    more = loaded.MORE_CONTRACTS
  })
}

/** An endpoint that asks no model, and a call to nowhere, have the errors of chat. */
export function requestContractOf(endpoint: Endpoint): RequestContract {
  return endpoint.contract === 'embeddings' ? EMBEDDINGS_CONTRACT : contractOf(endpoint)
}

/** The contract in which an answer is written that has words. */
export function contractOf({ contract = 'chat' }: Endpoint): Contract {
  if (contract === 'chat') return CHAT_CONTRACT
  if (contract === 'embeddings') throw new Error('An embedding has no words to be written.')
  if (!more) throw new Error(`The contract '${contract}' was not loaded.`)
  return more[contract]
}
