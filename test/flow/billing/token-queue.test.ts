import { expect, test } from '@jest/globals'
import { tokenQueue } from '../../../layers/gateway/flow/billing/count-texts.ts'

/** A tokenizer whose questions wait until they are let go, one by one. */
function heldTokenizer() {
  const asked: string[] = []
  const answers: (() => void)[] = []
  const queue = tokenQueue(async ([text = '']) => {
    asked.push(text)
    await new Promise<void>((resolve) => answers.push(resolve))
    return [1]
  })
  const answer = async () => {
    answers.shift()?.()
    await new Promise(setImmediate)
  }
  return { asked, answer, ...queue }
}

test('bills are counted at once, and counts when no bill is, one after the other', async () => {
  const { asked, answer, forBills, forCounts } = heldTokenizer()
  const all = [forCounts(['count 1'], 1), forCounts(['count 2'], 1), forBills(['bill 1'], 1), forBills(['bill 2'], 1)]
  await new Promise(setImmediate)
  expect(asked.toSorted()).toEqual(['bill 1', 'bill 2', 'count 1'])
  await answer()
  await answer()
  expect(asked).toHaveLength(3)
  await answer()
  expect(asked.at(-1)).toBe('count 2')
  await answer()
  expect(await Promise.all(all)).toEqual([[1], [1], [1], [1]])
})

test('counts beyond those that may wait are refused, and bills are not', async () => {
  const { answer, forBills, forCounts } = heldTokenizer()
  const counts = Array.from({ length: 40 }, () => forCounts(['count'], 1).catch((error) => error.status))
  const bill = forBills(['bill'], 1)
  for (let i = 0; i < 40; i++) await answer()
  const told = await Promise.all(counts)
  expect(told.filter((one) => one === 429)).toHaveLength(7)
  expect(await bill).toEqual([1])
})

test('a count whose tokenizer fails lets the next one go', async () => {
  const queue = tokenQueue(() => Promise.reject(new Error('away')))
  await expect(queue.forCounts(['a'], 1)).rejects.toThrow('away')
  await expect(queue.forCounts(['b'], 1)).rejects.toThrow('away')
})
