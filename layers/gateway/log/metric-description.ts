import { METRICS_NAMESPACE } from '../contract.ts'

export type Unit = 'Count' | 'Milliseconds' | 'None'

/** Tells CloudWatch which fields of a line are figures of the stage (embedded metric format), told apart by a field if one is given. */
export function describeMetrics(metrics: readonly { name: string; unit: Unit }[], by?: string): object {
  return {
    Namespace: METRICS_NAMESPACE,
    Dimensions: [by === undefined ? ['stage'] : ['stage', by]],
    Metrics: metrics.map(({ name, unit }) => ({ Name: name, Unit: unit })),
  }
}
