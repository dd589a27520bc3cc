import { EventBus } from 'aws-cdk-lib/aws-events'
import { PolicyStatement } from 'aws-cdk-lib/aws-iam'
import { Construct } from 'constructs'
import { EVENT_SOURCE, stackName } from '../../layers/gateway/names.ts'
import type { Stage } from '../stages.ts'

export type NoticeBus = ReturnType<typeof addNoticeBus>

export function addNoticeBus(parent: Construct, { name }: Stage) {
  const bus = new EventBus(new Construct(parent, 'Notices'), 'Bus', {
    eventBusName: stackName(name),
    description: `Notices of the keys of the Waybill stage ${name}`,
  })
  /** May put events on it, of this source only, and make no rule. */
  const put = new PolicyStatement({
    actions: ['events:PutEvents'],
    resources: [bus.eventBusArn],
    conditions: { StringEquals: { 'events:source': EVENT_SOURCE } },
  })
  return { bus, put }
}
