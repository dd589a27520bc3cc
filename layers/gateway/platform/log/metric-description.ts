import { METRICS_NAMESPACE } from '../../names.ts'

export type Unit = 'Count' | 'Milliseconds' | 'None'

/**
 * Tells CloudWatch which fields of a line are metrics of the stage (embedded metric format), and their dimensions: each
 * metric counts once for each set of them. Most of a line is this, so nothing is said twice, and no unit for none.
 */
export function describeMetrics(
  metrics: readonly { name: string; unit: Unit }[],
  ...sets: readonly (readonly string[])[]
): object {
  return {
    Namespace: METRICS_NAMESPACE,
    Dimensions: sets.map((by) => ['stage', ...by]),
    Metrics: metrics.map(({ name, unit }) => (unit === 'None' ? { Name: name } : { Name: name, Unit: unit })),
  }
}
