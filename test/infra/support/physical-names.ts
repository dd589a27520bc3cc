import type { DeployedStack } from './deployed-stack.ts'

/**
 * The places of names that no two resources of a type may share: in the account, or in one region of it. `other` is no
 * name of the resource itself, or one that need not be its own: a label, or a name within another resource.
 */
const NAMES: Readonly<Record<string, 'account' | 'region' | 'other'>> = {
  'AWS::ApiGatewayV2::Api.Name': 'other',
  'AWS::ApiGatewayV2::Stage.StageName': 'other',
  'AWS::Backup::BackupSelection.BackupSelection.SelectionName': 'other',
  'AWS::CloudFront::Function.Name': 'account',
  'AWS::CloudTrail::Trail.TrailName': 'region',
  'AWS::CloudWatch::Alarm.MetricName': 'other',
  // "All dashboards in your account are global, not region-specific" (AWS::CloudWatch::Dashboard in CloudFormation's
  // reference).
  'AWS::CloudWatch::Dashboard.DashboardName': 'account',
  'AWS::CodeDeploy::DeploymentGroup.DeploymentConfigName': 'other',
  'AWS::DynamoDB::GlobalTable.TimeToLiveSpecification.AttributeName': 'other',
  'AWS::Events::EventBus.Name': 'region',
  'AWS::Glue::Database.DatabaseInput.Name': 'region',
  'AWS::Glue::Table.DatabaseName': 'other',
  'AWS::Glue::Table.TableInput.Name': 'other',
  'AWS::IAM::Policy.PolicyName': 'other',
  'AWS::Lambda::Alias.Name': 'other',
  'AWS::Logs::Delivery.DeliverySourceName': 'other',
  'AWS::Logs::DeliveryDestination.Name': 'region',
  'AWS::Logs::DeliverySource.Name': 'region',
  'AWS::Logs::LogGroup.LogGroupName': 'region',
  'AWS::Logs::QueryDefinition.Name': 'region',
  // The operator's own domain.
  'AWS::CertificateManager::Certificate.DomainName': 'other',
  'AWS::Route53::RecordSet.Name': 'other',
  'AWS::Route53::RecordSet.AliasTarget.DNSName': 'other',
  'AWS::SNS::Topic.DisplayName': 'other',
  // The dimension by which an alarm knows it.
  'AWS::WAFv2::WebACL.VisibilityConfig.MetricName': 'region',
}

/** The names of a stack's resources, and its own, each with the room in which it has to be the only one. */
export function physicalNames({ name, region, template }: DeployedStack): string[] {
  const named = Object.values(template.Resources).flatMap((resource) =>
    fixedNames(resource.Properties, resource.Type, { 'AWS::Region': region, 'AWS::StackName': name }).flatMap(
      ([place, value]) => {
        const room = NAMES[place]
        if (room === undefined) throw new Error(`Is ${place}, '${value}', unique? Say so in physical-names.ts.`)
        return room === 'other' ? [] : [`${place} ${room === 'account' ? 'in the account' : `in ${region}`}: ${value}`]
      },
    ),
  )
  return [`stack in ${region}: ${name}`, ...named]
}

type Pseudo = Readonly<Record<string, string>>

/** The names that do not come from another resource, which has one of its own. */
function fixedNames(value: unknown, place: string, pseudo: Pseudo, depth = 2): [place: string, name: string][] {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || depth === 0) return []
  return Object.entries(value).flatMap(([key, inner]): [string, string][] => {
    if (!key.endsWith('Name')) return fixedNames(inner, `${place}.${key}`, pseudo, depth - 1)
    const name = fixedText(inner, pseudo)
    return name === undefined ? [] : [[`${place}.${key}`, name]]
  })
}

function fixedText(value: unknown, pseudo: Pseudo): string | undefined {
  if (typeof value === 'string') return value
  const { Ref, 'Fn::Join': joined } = value as { Ref?: string; 'Fn::Join'?: [string, unknown[]] }
  if (Ref !== undefined) return pseudo[Ref]
  const parts = joined?.[1].map((part) => fixedText(part, pseudo))
  return parts?.every((part) => part !== undefined) ? parts.join(joined?.[0]) : undefined
}
