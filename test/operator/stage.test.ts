import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals'
import { readKey } from '../../layers/gateway/store/read-key.ts'
import type { TestGateway } from '../support/gateway.ts'
import { type Ended, emptyFolder, run } from '../support/processes.ts'
import { openBoth } from '../support/stack.ts'

jest.setTimeout(60_000)

let gateway: TestGateway
let cloudFormation: Server
let outputs: Record<string, string>
let asked: string[] = []

/** CloudFormation as far as DescribeStacks goes. It knows one stack. */
beforeAll(async () => {
  gateway = (await openBoth()).gateway
  outputs = {
    BaseUrl: gateway.baseUrl,
    ChatUrl: `${gateway.baseUrl}/`,
    ApiUrl: gateway.baseUrl,
    KeysTable: gateway.tables.keys,
    UsageTable: gateway.tables.usage,
  }
  cloudFormation = createServer(async (request, response) => {
    const stack = new URLSearchParams(await text(request)).get('StackName') ?? ''
    asked.push(stack)
    response.writeHead(stack === 'Waybill-dev' ? 200 : 400, { 'Content-Type': 'text/xml' })
    response.end(stack === 'Waybill-dev' ? described() : NO_SUCH_STACK)
  })
  await new Promise<void>((resolve) => cloudFormation.listen(0, '127.0.0.1', resolve))
})
afterAll(() => {
  cloudFormation.closeAllConnections()
  cloudFormation.close()
})

const NO_SUCH_STACK = `<ErrorResponse xmlns="http://cloudformation.amazonaws.com/doc/2010-05-15/"><Error><Type>Sender</Type>
<Code>ValidationError</Code><Message>Stack with id X does not exist</Message></Error></ErrorResponse>`

function described(): string {
  const members = Object.entries(outputs).map(
    ([key, value]) => `<member><OutputKey>${key}</OutputKey><OutputValue>${value}</OutputValue></member>`,
  )
  return `<DescribeStacksResponse xmlns="http://cloudformation.amazonaws.com/doc/2010-05-15/"><DescribeStacksResult><Stacks>
<member><StackName>Waybill-dev</StackName><CreationTime>2026-11-15T00:00:00Z</CreationTime>
<StackStatus>CREATE_COMPLETE</StackStatus><Outputs>${members.join('')}</Outputs></member>
</Stacks></DescribeStacksResult></DescribeStacksResponse>`
}

function operator(file: string, args: string[], env: Record<string, string> = {}): Promise<Ended> {
  const { port } = cloudFormation.address() as AddressInfo
  return run(file, args, emptyFolder(), {
    AWS_ENDPOINT_URL_CLOUDFORMATION: `http://127.0.0.1:${port}`,
    AWS_ENDPOINT_URL_DYNAMODB: process.env.TEST_DYNAMODB ?? '',
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    ...env,
  }).ended
}

describe('waybill --stage', () => {
  test('finds the tables by the stack’s outputs, with the operator’s own credentials and nothing else', async () => {
    asked = []
    const { code, stdout, stderr } = await operator('operator/waybill.ts', [
      '--stage',
      'dev',
      'keys',
      'create',
      '--name',
      'acme',
      '--credits',
      '1',
      '--json',
    ])
    expect([code, stderr]).toEqual([0, ''])
    expect(asked).toEqual(['Waybill-dev'])
    const made = JSON.parse(stdout) as { id: string; secret: string }
    expect((await readKey(gateway.tables)(made.id))?.name).toBe('acme')
    expect((await gateway.get(made.secret, '/v1/models')).status).toBe(200)
    const audit = await operator('operator/waybill.ts', ['audit', '--key', made.id, '--stage', 'dev', '--json'])
    expect(JSON.parse(audit.stdout)).toMatchObject([{ id: made.id, rows: 1, ok: true }])
  })

  test('says what to do where there is no such stack, no region or no credentials', async () => {
    const list = ['keys', 'list', '--stage']
    expect((await operator('operator/waybill.ts', [...list, 'prod'])).stderr).toMatch(
      /There is no stack Waybill-prod.*npm run deploy/,
    )
    expect(
      (await operator('operator/waybill.ts', [...list, 'dev'], { AWS_REGION: '', AWS_CONFIG_FILE: '/dev/null' }))
        .stderr,
    ).toMatch(/AWS_REGION/)
    const noKeys = {
      AWS_ACCESS_KEY_ID: '',
      AWS_SECRET_ACCESS_KEY: '',
      AWS_EC2_METADATA_DISABLED: 'true',
      AWS_CONFIG_FILE: '/dev/null',
      AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
    }
    expect((await operator('operator/waybill.ts', [...list, 'dev'], noKeys)).stderr).toMatch(/No AWS credentials/)
  })
})

describe('npm run smoke', () => {
  test('passes on a gateway that works, with one address or with two, and leaves its key revoked', async () => {
    const whole = await operator('operator/smoke.ts', ['--stage', 'dev'])
    expect([whole.code, whole.stderr]).toEqual([0, ''])
    expect(whole.stdout.match(/^ok /gm)).toHaveLength(8)
    const { BaseUrl: _, ...two } = outputs
    outputs = two
    const split = await operator('operator/smoke.ts', ['--stage', 'dev'])
    expect(split.code).toBe(0)
    const keys = await operator('operator/waybill.ts', ['keys', 'list', '--stage', 'dev', '--json'])
    const smoke = (JSON.parse(keys.stdout) as { name: string; status: string }[]).filter(({ name }) => name === 'smoke')
    expect(smoke.map(({ status }) => status)).toEqual(['revoked', 'revoked'])
  })

  test('fails, and says where, on one that does not', async () => {
    const broken = await operator('operator/smoke.ts', ['--stage', 'dev', '--model', 'nope'])
    expect(broken.code).toBe(1)
    expect(broken.stdout).toMatch(/FAILED {2}a completion is answered.*model_not_found/)
  })
})
