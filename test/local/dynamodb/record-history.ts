import { parentPort, workerData } from 'node:worker_threads'
import { loadContract } from '../../../layers/gateway/contracts/contracts.ts'
import { endpointNamed } from '../../../layers/gateway/endpoints.ts'
import { type DocumentCommand, DynamoModel } from '../../simulation/dynamodb/dynamodb-model.ts'
import { generate } from '../../simulation/history.ts'
import { installVirtualTime, live } from '../../simulation/world.ts'
import type { Recorded } from './recorded-commands.ts'

/** So late that nothing has expired by the clock of the machine, by which Amazon's database deletes. */
const START = Date.UTC(2096, 10, 15, 23, 59, 30)

let recorded: Recorded[] = []
const { execute } = DynamoModel.prototype
DynamoModel.prototype.execute = function recordAndExecute(command: DocumentCommand) {
  recorded.push(structuredClone({ name: command.constructor.name, input: command.input }) as Recorded)
  return execute.call(this, command)
}

await loadContract(endpointNamed('responses'))
// Every timer of a process is replaced, so a history has a thread of its own.
installVirtualTime()
const histories: Recorded[][] = []
for (const seed of workerData as readonly number[]) {
  recorded = []
  const { violation } = await live({ ...generate(seed), startMs: START })
  if (violation) throw new Error(violation)
  histories.push(recorded)
}
parentPort?.postMessage(histories)
