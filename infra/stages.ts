import { RemovalPolicy } from 'aws-cdk-lib'

export type Stage = {
  readonly name: string
  readonly removalPolicy: RemovalPolicy
  readonly deletionProtection: boolean
}

const STAGES: Readonly<Record<string, Stage>> = {
  dev: { name: 'dev', removalPolicy: RemovalPolicy.DESTROY, deletionProtection: false },
  prod: { name: 'prod', removalPolicy: RemovalPolicy.RETAIN, deletionProtection: true },
}

export function stageOf(name: unknown): Stage {
  const stage = typeof name === 'string' ? STAGES[name] : undefined
  if (!stage) throw new Error(`There is no stage '${name}': use -c stage=${Object.keys(STAGES).join(' or -c stage=')}.`)
  return stage
}
