import type { Endpoint } from '../endpoints.ts'
import { DONE_FRAME, errorEnvelope } from '../wire/chat/frames.ts'
import { ChunkWriter, parseChatRequest } from './chat/chat-contract.ts'
import { CompletionBuilder } from './completion-builder.ts'
import type { Contract, RequestContract } from './contract.ts'
import type { LAZY_CONTRACTS } from './lazy-contracts.ts'

const CHAT_CONTRACT: Contract = {
  readRequest: parseChatRequest,
  openStream: (head) => new ChunkWriter(head),
  openWhole: (head) => new CompletionBuilder(head),
  lastFrame: DONE_FRAME,
  errorBody: errorEnvelope,
}

let lazyContracts: typeof LAZY_CONTRACTS | undefined

/** Loads the contract of an endpoint, if it is not loaded yet; undefined if there is nothing to wait for. */
export function loadContract({ contract = 'chat' }: Endpoint): Promise<void> | undefined {
  if (contract === 'chat' || lazyContracts) return undefined
  return import('#contracts').then((loaded: { LAZY_CONTRACTS: typeof LAZY_CONTRACTS }) => {
    lazyContracts = loaded.LAZY_CONTRACTS
  })
}

/** An endpoint that asks no model, and a call to an unknown path, have the error format of chat. */
export function requestContractOf(endpoint: Endpoint): RequestContract {
  return endpoint.contract === 'embeddings' ? lazyContract('embeddings') : contractOf(endpoint)
}

export function contractOf({ contract = 'chat' }: Endpoint): Contract {
  if (contract === 'chat') return CHAT_CONTRACT
  if (contract === 'embeddings') throw new Error('An embedding has no words to be written.')
  return lazyContract(contract)
}

function lazyContract<Name extends keyof typeof LAZY_CONTRACTS>(name: Name): (typeof LAZY_CONTRACTS)[Name] {
  if (!lazyContracts) throw new Error(`The contract '${name}' was not loaded.`)
  return lazyContracts[name]
}
