import { basename } from 'node:path'
import type { DeployedFunction } from './synthesize.ts'

type Started = Pick<DeployedFunction, 'folder' | 'handler' | 'environment' | 'memoryMb' | 'nodePath'>

/** All that the function's process has in its environment: nothing comes from ours. */
export function lambdaEnvironment(deployed: Started, dynamodb: string): Record<string, string> {
  const name = basename(deployed.folder)
  return {
    ...deployed.environment,
    AWS_ENDPOINT_URL_DYNAMODB: dynamodb,
    AWS_REGION: 'us-east-1',
    AWS_DEFAULT_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
    AWS_LAMBDA_FUNCTION_NAME: name,
    AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(deployed.memoryMb),
    AWS_LAMBDA_LOG_FORMAT: 'JSON',
    AWS_LAMBDA_LOG_LEVEL: 'INFO',
    AWS_LAMBDA_LOG_GROUP_NAME: `/aws/lambda/${name}`,
    AWS_LAMBDA_LOG_STREAM_NAME: '2026/11/15/[$LATEST]0123456789abcdef',
    LAMBDA_TASK_ROOT: deployed.folder,
    NODE_PATH: deployed.nodePath,
    _HANDLER: deployed.handler,
    LANG: 'en_US.UTF-8',
    TZ: ':UTC',
  }
}
