import { CfnDeletionPolicy, type CfnResource } from 'aws-cdk-lib'
import { Certificate, CertificateValidation } from 'aws-cdk-lib/aws-certificatemanager'
import type { Distribution } from 'aws-cdk-lib/aws-cloudfront'
import { AaaaRecord, ARecord, HostedZone, type IHostedZone, RecordTarget } from 'aws-cdk-lib/aws-route53'
import { CloudFrontTarget } from 'aws-cdk-lib/aws-route53-targets'
import type { Construct } from 'constructs'
import type { Stage, Zone } from '../stages.ts'

/** A certificate that AWS makes and renews by itself, because the domain's zone is in the account. */
export function certificateOf(scope: Construct, { name, zone }: { name: string; zone: Zone }): string {
  const certificate = new Certificate(scope, 'Certificate', {
    domainName: name,
    validation: CertificateValidation.fromDns(zoneOf(scope, 'CertificateZone', zone)),
  })
  // The certificate for a former domain is in use until CloudFront's own stack has been deployed, too.
  const { cfnOptions } = certificate.node.defaultChild as CfnResource
  cfnOptions.updateReplacePolicy = CfnDeletionPolicy.RETAIN
  cfnOptions.deletionPolicy = CfnDeletionPolicy.DELETE
  return certificate.certificateArn
}

function zoneOf(scope: Construct, id: string, { id: hostedZoneId, name: zoneName }: Zone): IHostedZone {
  return HostedZone.fromHostedZoneAttributes(scope, id, { hostedZoneId, zoneName })
}

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
