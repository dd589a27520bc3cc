import { METRICS_NAMESPACE } from '../contract.ts'

export type Unit = 'Count' | 'Milliseconds' | 'None'

/** Tells CloudWatch which fields of a line are metrics of the stage (embedded metric format), and their dimensions. */
export function describeMetrics(metrics: readonly { name: string; unit: Unit }[], ...by: readonly string[]): object {
  return {
    Namespace: METRICS_NAMESPACE,
    Dimensions: [['stage', ...by]],
    Metrics: metrics.map(({ name, unit }) => ({ Name: name, Unit: unit })),
  }
}
