/**
 * The most that AWS takes, by the pages "IAM and AWS STS quotas", "Understand CloudFormation quotas", "Lambda quotas", and
 * the references of CloudWatch, CloudWatch Logs, CloudTrail, SNS and CloudFront. The tests measure every template by it.
 */
export const LIMITS = {
  /** White space does not count in policies. */
  charactersOfManagedPolicy: 6_144,
  charactersOfInlinePoliciesOfRole: 10_240,
  managedPoliciesOfRole: 10,
  resources: 500,
  outputs: 200,
  parameters: 200,
  bytesOfTemplate: 1_000_000,
  bytesOfVariables: 4_096,
  metricsOfAlarm: 10,
  /** Half of an asynchronous event: that of an update has the former properties, too. */
  bytesOfSeed: 500_000,
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
    'AWS::Logs::DeliverySource.Name': 60,
    'AWS::Logs::LogGroup.LogGroupName': 512,
    'AWS::SNS::Topic.DisplayName': 100,
  },
} as const

/** The words of a template that is refused while it is made, because the operator's own catalog makes it too large. */
export function beyondLimit(what: string, got: number, most: number, advice: string): string {
  return `${what}: ${got}, and AWS takes at most ${most}. ${advice}`
}
