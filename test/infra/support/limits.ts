import { LIMITS as OWN } from '../../../infra/limits.ts'

/**
 * The most that AWS takes, by the pages "IAM and AWS STS quotas", "Understand CloudFormation quotas", "Lambda quotas", and
 * the references of CloudWatch, CloudWatch Logs, CloudTrail, SNS and CloudFront. Every template is measured by it.
 */
export const LIMITS = {
  ...OWN,
  /** White space does not count in policies. */
  charactersOfManagedPolicy: 6_144,
  charactersOfInlinePoliciesOfRole: 10_240,
  resources: 500,
  outputs: 200,
  parameters: 200,
  bytesOfTemplate: 1_000_000,
  bytesOfVariables: 4_096,
  metricsOfAlarm: 10,
  charactersOfName: {
    'AWS::CloudFront::Function.Name': 64,
    'AWS::CloudTrail::Trail.TrailName': 128,
    'AWS::CloudWatch::Alarm.AlarmDescription': 1_024,
    'AWS::CloudWatch::Dashboard.DashboardName': 255,
    'AWS::Events::EventBus.Name': 256,
    'AWS::IAM::ManagedPolicy.Description': 1_000,
    'AWS::IAM::Role.RoleName': 64,
    'AWS::Lambda::Function.Description': 256,
    'AWS::Lambda::Function.FunctionName': 64,
    'AWS::Logs::DeliveryDestination.Name': 60,
    'AWS::Logs::DeliverySource.Name': OWN.charactersOfDelivery,
    'AWS::Logs::LogGroup.LogGroupName': 512,
    'AWS::SNS::Topic.DisplayName': 100,
  },
} as const
