import { EventBus } from 'aws-cdk-lib/aws-events'
import { PolicyStatement } from 'aws-cdk-lib/aws-iam'
import { Construct } from 'constructs'
import { EVENT_SOURCE, stackName } from '../../layers/gateway/names.ts'
import type { Stage } from '../stages.ts'

/** The bus that notices are put on. Whom they reach is for the operator's own rules to say. */
export class NoticeBus extends Construct {
  readonly bus: EventBus

  constructor(scope: Construct, id: string, { name }: Stage) {
    super(scope, id)
    this.bus = new EventBus(this, 'Bus', {
      eventBusName: stackName(name),
      description: `Notices of the keys of the Waybill stage ${name}`,
    })
  }

  /** May put events on it, of this source only, and make no rule. */
  get put(): PolicyStatement {
    return new PolicyStatement({
      actions: ['events:PutEvents'],
      resources: [this.bus.eventBusArn],
      conditions: { StringEquals: { 'events:source': EVENT_SOURCE } },
    })
  }
}
