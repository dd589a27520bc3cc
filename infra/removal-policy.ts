import { RemovalPolicy } from 'aws-cdk-lib'
import type { Stage } from './stages.ts'

/** The fate of a stage's tables and logs when the stack is destroyed. */
export function removalPolicyOf({ keepsData }: Stage): RemovalPolicy {
  return keepsData ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY
}
