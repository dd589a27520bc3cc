import { expect, test } from '@jest/globals'
import { cidrContains, cidrProblem, isInRanges } from '../../layers/gateway/domain/admission/cidr.ts'

test.each([
  '0.0.0.0/0',
  '10.0.0.0/8',
  '203.0.113.7/32',
  '::/0',
  '2001:db8::/32',
  '::1/128',
  'fe80::/10',
  '2001:db8:0:1::/64',
])('an allowlist accepts the range %s', (range) => {
  expect(cidrProblem(range)).toBeUndefined()
})

test.each([
  '',
  '10.0.0.0',
  '10.0.0/8',
  '10.0.0.1/8',
  '010.0.0.0/8',
  '0x0a.0.0.0/8',
  '10.0.0.0/33',
  '10.0.0.0/08',
  '10.0.0.0/-1',
  '10.0.0.0/',
  '10.0.0.0/8/8',
  '256.0.0.0/8',
  '1.2.3.4.5/8',
  ' 10.0.0.0/8',
  '10.0.0.0/8 ',
  '167772160/8',
  '2001:DB8::/32',
  '2001:db8:0:0::/32',
  '2001:db8::1/32',
  '2001:db8::/129',
  'fe80::1%eth0/128',
  '::ffff:10.0.0.0/104',
  '1::2::3/64',
  '12345::/16',
  ':1:2:3:4:5:6:7/128',
  'localhost/8',
])('an allowlist refuses the range %j with a reason', (range) => {
  expect(cidrProblem(range)).toMatch(/^(is|has)/)
})

test('the refusal of an allowlist range says what to write instead', () => {
  expect(cidrProblem('10.1.2.3/8')).toContain('write 10.0.0.0/8')
  expect(cidrProblem('2001:DB8:0:0::/32')).toContain('write 2001:db8::/32')
  expect(cidrProblem('10.1.2.3')).toContain('write 10.1.2.3/32')
})

test.each([
  ['10.0.0.0/8', '10.255.1.2', true],
  ['10.0.0.0/8', '11.0.0.1', false],
  ['10.0.0.0/8', '::ffff:10.1.2.3', true],
  ['203.0.113.7/32', '203.0.113.7', true],
  ['203.0.113.7/32', '203.0.113.8', false],
  ['0.0.0.0/0', '8.8.8.8', true],
  ['0.0.0.0/0', '2001:db8::1', false],
  ['::/0', '2001:db8::1', true],
  ['::/0', '8.8.8.8', false],
  ['::/0', '::ffff:8.8.8.8', false],
  ['2001:db8::/32', '2001:db8:ffff::1', true],
  ['2001:db8::/32', '2001:db9::1', false],
  ['fe80::/10', 'febf::1', true],
  ['10.0.0.0/8', '0x0a.0.0.1', false],
  ['10.0.0.0/8', '10.1', false],
  ['10.0.0.0/8', '', false],
])('an allowlist with the range %s lets the address "%s" in: %s', (range, address, inside) => {
  expect(cidrContains(range, address)).toBe(inside)
})

test.each(['', 'x', '10.0.0.0/33', '10.0.0.0/x', '10.0.0.1', '10.0.0/8', '2001:db8', '2001:db8::/200'])(
  'a range that is none lets nobody in: %j',
  (range) => {
    expect(isInRanges('10.0.0.1', [range])).toBe(false)
    expect(isInRanges('10.0.0.1', [range, '10.0.0.0/24'])).toBe(true)
  },
)
