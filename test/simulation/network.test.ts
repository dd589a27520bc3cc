import { expect, test } from '@jest/globals'
import { type Message, Network } from './network.ts'

/** Sends a message, and tells how it ended: with its work done, or with the name of an error. */
function send(network: Network, kind: Message['kind'], items: readonly string[]) {
  const sent: { ended?: string } = {}
  network.waiting.push({
    from: { name: 'test', alive: true },
    label: () => kind,
    kind,
    items,
    isSentOnce: true,
    work: () => 'done',
    answer: (value) => {
      sent.ended = String(value)
    },
    fail: (error) => {
      sent.ended = (error as Error).name
    },
  })
  return sent
}

function deliverAll(network: Network): void {
  while (network.deliver(0, 'answered'));
}

test('a plain write is refused while a transaction with its item is under way, a read and other items are not', () => {
  const network = new Network()
  const transaction = send(network, 'transaction', ['a', 'b'])
  network.deliver(0, 'answered')
  expect(transaction.ended).toBeUndefined()
  const [hit, missed, read] = [send(network, 'write', ['b']), send(network, 'write', ['c']), send(network, 'read', [])]
  for (let i = 0; i < 3; i++) network.deliver(1, 'answered')
  expect([hit.ended, missed.ended, read.ended]).toEqual(['TransactionConflictException', 'done', 'done'])
  network.commit()
  expect(transaction.ended).toBe('done')
  const again = send(network, 'write', ['b'])
  deliverAll(network)
  expect(again.ended).toBe('done')
})

test('a transaction is cancelled by another one with one of its items, and by a plain write that is under way', () => {
  const network = new Network()
  const first = send(network, 'transaction', ['a'])
  network.deliver(0, 'answered')
  const second = send(network, 'transaction', ['a', 'b'])
  network.deliver(1, 'answered')
  const write = send(network, 'write', ['c'])
  const third = send(network, 'transaction', ['b', 'c'])
  network.deliver(network.waiting.length - 1, 'answered')
  deliverAll(network)
  const cancelled = 'TransactionCanceledException'
  expect([first, second, write, third].map(({ ended }) => ended)).toEqual(['done', cancelled, 'done', cancelled])
})

test('every transaction with a hot item is cancelled, and a plain write of it is made', () => {
  const network = new Network()
  network.hotItem = 'a'
  const [transaction, write] = [send(network, 'transaction', ['a']), send(network, 'write', ['a'])]
  deliverAll(network)
  expect([transaction.ended, write.ended]).toEqual(['TransactionCanceledException', 'done'])
})
