import { Validations } from 'aws-cdk-lib'
import { HttpApi, HttpMethod } from 'aws-cdk-lib/aws-apigatewayv2'
import { HttpIamAuthorizer } from 'aws-cdk-lib/aws-apigatewayv2-authorizers'
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations'
import type { LogGroup } from 'aws-cdk-lib/aws-logs'
import { Construct } from 'constructs'
import { ADMIN_PATHS } from '../../layers/gateway/endpoints.ts'
import type { GatewayFunction } from '../functions/gateway-function.ts'
import type { Stage } from '../stages.ts'
import { addLoggedStage } from './api.ts'

/** For the few people and programs that administer. */
const REQUESTS_PER_SECOND = 20

/**
 * The admin API, at an address of its own: not behind CloudFront, which would replace the Host that a signature covers.
 * AWS refuses every call that is not signed, except on the path for admin keys, where the function asks for one.
 */
export class AdminApi extends Construct {
  readonly api: HttpApi
  readonly logs: LogGroup

  constructor(scope: Construct, id: string, { stage, admin }: { stage: Stage; admin: GatewayFunction }) {
    super(scope, id)
    this.api = new HttpApi(this, 'HttpApi', {
      apiName: `Waybill-${stage.name}-admin`,
      description: `Waybill ${stage.name} admin`,
      createDefaultStage: false,
    })
    const integration = new HttpLambdaIntegration('Admin', admin.live)
    const route = { methods: [HttpMethod.ANY], integration }
    this.api.addRoutes({ ...route, path: `${ADMIN_PATHS.signed}/{proxy+}`, authorizer: new HttpIamAuthorizer() })
    if (stage.adminKeys) {
      const [keyed] = this.api.addRoutes({ ...route, path: `${ADMIN_PATHS.keyed}/{proxy+}` })
      if (keyed) {
        Validations.of(keyed).acknowledge({
          id: 'AwsSolutions::AwsSolutions-APIG4',
          reason: 'The function itself demands an admin key on this path, and reads it from the table at every call.',
        })
      }
    }
    const logged = { user: '$context.identity.userArn' }
    this.logs = addLoggedStage(this, { stage, api: this.api, requestsPerSecond: REQUESTS_PER_SECOND, logged })
  }
}
