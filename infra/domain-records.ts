import type { Distribution } from 'aws-cdk-lib/aws-cloudfront'
import { AaaaRecord, ARecord, RecordTarget } from 'aws-cdk-lib/aws-route53'
import { CloudFrontTarget } from 'aws-cdk-lib/aws-route53-targets'
import type { Construct } from 'constructs'
import { zoneOf } from './certificate.ts'
import type { Stage } from './stages.ts'

/** The DNS records of the domain for CloudFront, if its zone is in the account. */
export function addDomainRecords(scope: Construct, { domain, ipv6 }: Stage, distribution: Distribution): void {
  if (!domain?.hostedZone) return
  const record = {
    zone: zoneOf(scope, 'DomainZone', domain.hostedZone),
    // The dot marks a full name, which may be the zone's own.
    recordName: `${domain.name}.`,
    target: RecordTarget.fromAlias(new CloudFrontTarget(distribution)),
  }
  new ARecord(scope, 'DomainA', record)
  if (ipv6) new AaaaRecord(scope, 'DomainAaaa', record)
}
