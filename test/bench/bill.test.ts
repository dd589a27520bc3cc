import { expect, test } from '@jest/globals'
import { billOf, type Chat, PRICES } from '../../bench/bill/bill.ts'

const CHAT: Chat = {
  seconds: 4,
  memoryMb: 512,
  keyItemBytes: 1_984,
  rowBytes: 500,
  answerBytes: 1_073.741824 * 65,
  logBytes: 1_073.741824 * 2,
}

const amountsOf = (chat: Chat) => billOf(chat).lines.map(({ what, dollars }) => [what, Number(dollars.toFixed(4))])

test('the bill of a million chats is the sum of its lines, each a quantity times its price', () => {
  expect(amountsOf(CHAT)).toEqual([
    ['Lambda, time', 26.6668], // 2,000,000 GB-seconds
    ['Lambda, requests', 0.2],
    ['DynamoDB, the key', 2.5], // two writes of two units
    ['DynamoDB, the row', 1.25], // the row and its index
    ['CloudFront, requests', 1],
    ['CloudFront, function', 0.1],
    ['CloudFront, out', 5.525], // 65 GB
    ['logs', 1], // 2 GB
  ])
  expect(billOf(CHAT).total).toBeCloseTo(38.2418, 4)
})

test('the firewall, longer prompts and the monthly cost of stored rows stand beside the bill of a million chats', () => {
  expect(billOf(CHAT).beside.map(({ what, dollars }) => [what, Number(dollars.toFixed(4))])).toEqual([
    ['firewall, requests', 0.6],
    ['prompt of 4 KB', 0.4196],
    ['prompt of 40 KB', 4.1962],
    // 600 bytes each with DynamoDB's own hundred, twice for the index, which is not backed up.
    ['rows kept, a month', 0.2794],
    ['their backup, a month', 0.1118],
  ])
})

test('the bill of a million chats grows with memory, open requests and time', () => {
  expect(amountsOf({ ...CHAT, memoryMb: 256 })[0]).toEqual(['Lambda, time', 13.3334])
  expect(amountsOf({ ...CHAT, keyItemBytes: 12_816 })[2]).toEqual(['DynamoDB, the key', 16.25])
  expect(amountsOf({ ...CHAT, seconds: 8 })[0]).toEqual(['Lambda, time', 53.3336])
})

test('every price in the bill says where it is from', () => {
  for (const { dollars, per, source } of Object.values(PRICES)) {
    expect(dollars).toBeGreaterThan(0)
    expect(per).not.toBe('')
    expect(source).toMatch(/^(Lambda|DynamoDB|CloudFront|CloudWatch|WAF) Pricing/)
  }
})
