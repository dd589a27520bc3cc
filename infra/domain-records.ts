import type { Distribution } from 'aws-cdk-lib/aws-cloudfront'
import { AaaaRecord, ARecord, RecordTarget } from 'aws-cdk-lib/aws-route53'
import { CloudFrontTarget } from 'aws-cdk-lib/aws-route53-targets'
import type { Construct } from 'constructs'
import { zoneOf } from './certificate.ts'
import type { Stage } from './stages.ts'

/** The records by which the domain leads to CloudFront, if its zone is in the account. */
export function addDomainRecords(scope: Construct, { domain, ipv6 }: Stage, distribution: Distribution): void {
  if (!domain?.hostedZone) return
  const record = {
    zone: zoneOf(scope, 'DomainZone', domain.hostedZone),
    // The dot says that it is a whole name, which also the zone's own may be.
    recordName: `${domain.name}.`,
    target: RecordTarget.fromAlias(new CloudFrontTarget(distribution)),
  }
  new ARecord(scope, 'DomainA', record)
  if (ipv6) new AaaaRecord(scope, 'DomainAaaa', record)
}
