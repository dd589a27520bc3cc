import { Aws, Duration, Fn, RemovalPolicy } from 'aws-cdk-lib'
import { BackupPlan, BackupPlanRule, BackupResource, BackupVault } from 'aws-cdk-lib/aws-backup'
import { Schedule } from 'aws-cdk-lib/aws-events'
import { AccountPrincipal, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { Key } from 'aws-cdk-lib/aws-kms'
import { Construct } from 'constructs'
import { acknowledge } from '../acknowledge.ts'
import { addNotice } from '../monitoring/monitoring.ts'
import type { Stage } from '../stages.ts'
import type { Tables } from './tables.ts'

/** The copies have the vaults' own keys, whichever the tables have ("Encryption for backups" in the guide of AWS Backup). */
export function addBackup(parent: Construct, { keys, usage }: Tables, stage: Stage): void {
  const { backup: vaultArns } = stage
  if (!vaultArns) return
  const scope = new Construct(parent, 'Backup')
  const removalPolicy = RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE
  const description = 'Of the backups to be copied'
  const key = new Key(scope, 'Key', { description, enableKeyRotation: true, removalPolicy })
  // An account reads a backup to copy it ("Creating backup copies across AWS accounts" in the same guide).
  for (const account of new Set(vaultArns.map((arn) => arn.split(':')[4] ?? ''))) {
    key.grant(new AccountPrincipal(account), 'kms:DescribeKey', 'kms:Decrypt', 'kms:CreateGrant')
  }
  // Another name in every stack: the vault of one that is gone has backups still.
  const name = `waybill-${stage.name}-${Fn.select(0, Fn.split('-', Fn.select(2, Fn.split('/', Aws.STACK_ID))))}`
  const vault = new BackupVault(scope, 'Vault', { backupVaultName: name, encryptionKey: key, removalPolicy })
  const rule = new BackupPlanRule({
    backupVault: vault,
    scheduleExpression: Schedule.cron({ hour: '5', minute: '0' }),
    // Point-in-time recovery is the backup here; this one is only the source of the copies.
    deleteAfter: Duration.days(3),
    copyActions: vaultArns.map((arn, i) => ({
      destinationBackupVault: BackupVault.fromBackupVaultArn(scope, `Copy${i + 1}`, arn),
      deleteAfter: Duration.days(14),
    })),
  })
  const role = new Role(scope, 'Role', { assumedBy: new ServicePrincipal('backup.amazonaws.com') })
  const policy = 'arn:<AWS::Partition>:iam::aws:policy/service-role/AWSBackupServiceRolePolicyForBackup'
  acknowledge(role, `IAM4[Policy::${policy}]`, 'The guide of AWS Backup demands it for copies of DynamoDB’s tables.')
  const resourceArn = [keys.tableArn, usage.tableArn]
  new BackupPlan(scope, 'Plan', { backupPlanName: name, backupPlanRules: [rule] }).addSelection('Tables', {
    role,
    resources: resourceArn.map((arn) => BackupResource.fromArn(arn)),
  })
  // "Monitoring AWS Backup events using Amazon EventBridge" in its guide.
  addNotice(scope, stage, 'CopyFailed', ['state', 'resourceArn', 'statusMessage'], {
    source: ['aws.backup'],
    detailType: ['Backup Job State Change', 'Copy Job State Change'],
    detail: { resourceArn, state: ['FAILED', 'ABORTED', 'EXPIRED', 'PARTIAL'] },
  })
}
