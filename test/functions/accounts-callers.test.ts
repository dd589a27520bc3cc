import { randomBytes } from 'node:crypto'
import { describe, expect, test } from '@jest/globals'
import { grantToAccount, updateAccount } from '../../layers/gateway/store/accounts/change-account.ts'
import { actAt } from '../support/act.ts'
import { HELLO } from '../support/gateway.ts'
import { intercept } from '../support/intercept.ts'
import { holdAnswers } from '../support/upstream.ts'
import { until } from '../support/wait.ts'
import { credits, LOOSE, openAccounts } from './support/accounts.ts'

/** An answer of 1,000 tokens costs 1.5 credits: 0.5 for the request and 0.001 for each token. */
const { gateway, other, upstream, time, tables, open, spend, purseOf } = await openAccounts({
  price: { input: '0', output: '1000', request: '0.5' },
})
const CHAT = '/v1/chat/completions'

const json = async (secret: string, path: string) => (await gateway.get(secret, path)).json()
const introspect = (secret: string) => json(secret, '/v1/key/introspect') as Promise<Record<string, unknown>>
const ask = async (secret: string, fields: object = {}) => gateway.ask(fields, { secret })
const quote = async (secret: string, fields: object = {}) =>
  JSON.parse((await gateway.ask({ endpoint: CHAT, body: { ...HELLO, ...fields } }, { secret, path: '/v1/quote' })).text)

describe('a key of an account', () => {
  test('is told the balance of the account, wherever it lies, and what is held and spent by itself and by all', async () => {
    const { account, a, b, idA } = await open({ name: 'Acme' })
    await spend(a, 2)
    await spend(b, 1)
    // One answer costs 0.505: the upstream counts 5 tokens.
    const release = holdAnswers(upstream)
    const asked = gateway.post(b, HELLO)
    await until(async () => (await introspect(b)).held === '1.5')
    expect((await purseOf(idA)).available).toBeGreaterThan(0n)
    const told = { id: account.id, name: 'Acme', balance: '6.985', held: '1.5', spent: '1.515' }
    const [ofA, ofB, total] = [await introspect(a), await introspect(b), await json(a, '/v1/credits')]
    release()
    await (await asked).text()
    expect(ofA).toMatchObject({ balance: '6.985', held: '0', spent: '1.01', account: told })
    expect(ofB).toMatchObject({ balance: '6.985', held: '1.5', spent: '0.505', account: told })
    expect(total).toEqual({ data: { total_credits: 10, total_usage: 1.515 } })
  })

  test('costs these calls two reads more, and a call for models none', async () => {
    const { a } = await open()
    const { secret: alone } = await gateway.issue()
    const callsOf = async (secret: string, path: string) => {
      await json(secret, path)
      gateway.calls.length = 0
      await json(secret, path)
      return gateway.calls.map(({ name }) => name)
    }
    for (const path of ['/v1/key/introspect', '/v1/credits']) {
      const [first, ...rest] = await callsOf(alone, path)
      expect(await callsOf(a, path)).toEqual([first, 'GetItem', 'BatchGetItem', ...rest])
    }
    expect(await callsOf(a, '/v1/models')).toEqual(await callsOf(alone, '/v1/models'))
  })

  test('is told no balance below nothing, though credits are granted and spent between the two reads', async () => {
    const { account, a, b } = await open({ credits: '0.6' })
    const restore = intercept(tables, async (send, name) => {
      if (name !== 'BatchGetItem') return send()
      restore()
      await grantToAccount(other.tables)(account.id, credits('1'), actAt(time.nowMs))
      for (let i = 0; i < 2; i++) await (await other.post(b, { ...HELLO, max_tokens: 10 })).text()
      return send()
    })
    expect((await introspect(a)).account).toMatchObject({ balance: '0', spent: '1.01' })
    expect((await introspect(a)).account).toMatchObject({ balance: '0.59', spent: '1.01' })
  })

  test('is quoted and given what the account covers, also beyond what lies in its purse: a cap that it left open is lowered as for a key alone', async () => {
    const { secret: alone } = await gateway.issue({ credits: '1.2' })
    const { a, b } = await open({ credits: '1.705' })
    expect((await ask(b)).row.cost).toBe(credits('0.505'))
    const quoted = await quote(a)
    expect(quoted).toMatchObject({
      hold: '1.2',
      refusal: null,
      output_tokens: { most: 700, covered: { balance: 700 } },
    })
    expect(quoted).toEqual({ ...(await quote(alone)), cost: quoted.cost })
    expect((await ask(a)).row).toMatchObject({ httpStatus: 200, hold: credits('1.2'), loweredMaxTokens: 700 })
  })

  test('is refused in words of the account, and a quote has the same ones', async () => {
    const { a } = await open({ credits: '0.7' })
    const { refusal } = await quote(a, { max_tokens: 900 })
    const { status, error } = await ask(a, { max_tokens: 900 })
    expect(error.message).toBe(
      'The balance of the account is 0.7 credits, and this request may cost up to 1.4. It covers max_tokens of at most 200 for this request; lower max_tokens or add credits.',
    )
    expect(refusal).toEqual({ status, code: 'credit_balance_exhausted', message: error.message })
  })

  test('has its account in every row: answered, refused, abandoned, and those of free calls', async () => {
    const { account, a, idA } = await open({ credits: '0.7' })
    const asked = [await ask(a, { max_tokens: 10 }), await ask(a, { max_tokens: 900 }), await ask(a, { model: 'none' })]
    expect(asked.map(({ row }) => [row.httpStatus, row.accountId])).toEqual(
      [200, 402, 404].map((status) => [status, account.id]),
    )
    const told = (await json(a, `/v1/usage/${asked[0]?.row.requestId}`)) as object
    expect(told).toMatchObject({ account_id: account.id })
    const hold = { requestId: 'req_01M7MP1PF88TGGJ0SQ19VVW7KA', amount: 0n, untilMs: time.nowMs }
    expect(await gateway.instance.finishHold(await purseOf(idA), hold)).toMatchObject({
      outcome: 'abandoned',
      accountId: account.id,
    })
    const { key, secret } = await gateway.issue()
    expect((await ask(secret)).row.accountId).toBeUndefined()
    expect(
      (await gateway.instance.finishHold(key, { ...hold, requestId: 'req_01M7MP1PF88TGGJ0SQ19VVW7KB' })).accountId,
    ).toBeUndefined()
  })
})

describe('a hidden balance', () => {
  test('is null wherever it would be, and GET /v1/credits is a 403; the key’s own usage and limits are told', async () => {
    const { account, a } = await open({ hidesBalance: true })
    await spend(a, 1)
    const hidden = { id: account.id, name: 'acme', balance: null, held: null, spent: null }
    expect(await introspect(a)).toMatchObject({ balance: null, spent: '0.505', account: hidden })
    const refused = await gateway.get(a, '/v1/credits')
    expect([refused.status, await refused.json()]).toMatchObject([403, { error: { code: 'insufficient_scope' } }])
    expect(await quote(a)).toMatchObject({ hold: '1.5', output_tokens: { most: 1000, covered: { balance: null } } })
    await updateAccount(tables, randomBytes)(account.id, { hidesBalance: null }, actAt(time.nowMs))
    expect(await introspect(a)).toMatchObject({ balance: '9.495' })
  })

  test('is told by no refusal, no lowered cap and no quote, whatever it is: they are the same for two balances', async () => {
    const told = async (balance: string) => {
      const { a } = await open({ credits: balance, hidesBalance: true })
      const [unnamed, named] = [await ask(a), await ask(a, { max_tokens: 900 })]
      const quotes = [await quote(a), await quote(a, { max_tokens: 900 })]
      return [unnamed.status, unnamed.error, named.status, named.error, ...quotes]
    }
    const first = await told('0.7')
    expect(first[0]).toBe(402)
    expect(first[1]).toMatchObject({
      message:
        'The balance of the account does not cover this request, which may cost up to 1.5. Add credits, lower max_tokens or shorten the prompt.',
    })
    expect(await told('1.3')).toEqual(first)
  })

  test('leaves the key’s own windows: a cap is lowered to what they cover', async () => {
    const { account } = await open({ keys: 0, credits: '1.3', hidesBalance: true })
    const { secret } = await gateway.issue({ account, ...LOOSE, dailyCredits: credits('1') })
    expect(await quote(secret)).toMatchObject({ hold: '1', output_tokens: { most: 500 } })
    expect((await ask(secret)).row).toMatchObject({ httpStatus: 200, hold: credits('1'), loweredMaxTokens: 500 })
  })
})
