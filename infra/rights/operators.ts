import { ArnFormat, Stack, Validations } from 'aws-cdk-lib'
import type { HttpApi } from 'aws-cdk-lib/aws-apigatewayv2'
import { ManagedPolicy, PolicyStatement } from 'aws-cdk-lib/aws-iam'
import { Construct } from 'constructs'
import { ADMIN_LOOKING_POSTS, ADMIN_PATHS } from '../../layers/gateway/endpoints.ts'
import type { Stage } from '../stages.ts'
import { acknowledgedOnCall, type OnCall, onCallStatements } from './on-call.ts'
import { wildcard } from './wildcard.ts'

type Props = { readonly stage: Stage; readonly onCall: OnCall; readonly adminApi: HttpApi }

/**
 * Policies for people: calls to the admin API of this stage, and what on-call needs beside it. They must be attached to
 * somebody.
 */
export class Operators extends Construct {
  readonly operator: ManagedPolicy
  readonly reader: ManagedPolicy
  readonly onCall: ManagedPolicy

  constructor(scope: Construct, id: string, { stage, adminApi, onCall }: Props) {
    super(scope, id)
    const stack = Stack.of(this)
    this.reader = new ManagedPolicy(this, 'WaybillReader', {
      description: `Reads keys, usage and the catalog of the Waybill stage ${stage.name}`,
      statements: [this.#findStage(), call(adminApi, [callsBy('GET'), ...LOOKING_POSTS])],
    })
    this.operator = new ManagedPolicy(this, 'WaybillOperator', {
      description: `Operates the Waybill stage ${stage.name}: keys, credits, the catalog, tests of routes`,
      statements: [this.#findStage(), call(adminApi, [callsBy('*')])],
    })
    this.onCall = new ManagedPolicy(this, 'WaybillOnCall', {
      description: `Finds and stops faults of the Waybill stage ${stage.name}: logs, metrics, rollouts, concurrency`,
      statements: onCallStatements(stack, onCall),
    })
    Validations.of(this.onCall).acknowledge(...acknowledgedOnCall(stack, onCall))
    Validations.of(this.reader).acknowledge(acknowledgedCalls(adminApi, 'GET'))
    Validations.of(this.operator).acknowledge(acknowledgedCalls(adminApi, '*'))
  }

  /** By the stack's own id, which CloudFormation checks even if a stack is called by its name. */
  #findStage(): PolicyStatement {
    return new PolicyStatement({ actions: ['cloudformation:DescribeStacks'], resources: [Stack.of(this).stackId] })
  }
}

function call(api: HttpApi, calls: readonly string[]): PolicyStatement {
  return new PolicyStatement({ actions: ['execute-api:Invoke'], resources: calls.map((one) => arnOf(api, one)) })
}

const callsBy = (method: string, path = '/*') => `$default/${method}${ADMIN_PATHS.signed}${path}`
const LOOKING_POSTS = ADMIN_LOOKING_POSTS.map((path) => callsBy('POST', path))

function arnOf(api: HttpApi, call: string): string {
  const [service, arnFormat] = ['execute-api', ArnFormat.NO_RESOURCE_NAME]
  return Stack.of(api).formatArn({ service, resource: `${api.apiId}/${call}`, arnFormat })
}

function acknowledgedCalls(api: HttpApi, method: string) {
  return {
    id: wildcard(api, arnOf(api, callsBy(method))),
    reason: 'Every path of this one API by this method: it has one for each key, request and version.',
  }
}
