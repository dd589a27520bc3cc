import { Aws, Duration, RemovalPolicy } from 'aws-cdk-lib'
import { CfnDatabase, CfnTable } from 'aws-cdk-lib/aws-glue'
import { PolicyStatement } from 'aws-cdk-lib/aws-iam'
import { BlockPublicAccess, Bucket, BucketEncryption } from 'aws-cdk-lib/aws-s3'
import { Construct } from 'constructs'
import { EXPORT_COLUMNS, EXPORT_FOLDER } from '../../layers/gateway/domain/rows/export-line.ts'
import { FOCUS_FOLDER } from '../../layers/gateway/domain/rows/focus-line.ts'
import { acknowledge, wildcard } from '../acknowledge.ts'
import type { Stage } from '../stages.ts'

export type UsageExport = ReturnType<typeof addUsageExport>

export function addUsageExport(parent: Construct, stage: Stage) {
  const scope = new Construct(parent, 'UsageExport')
  const bucket = new Bucket(scope, 'Bucket', {
    encryption: BucketEncryption.S3_MANAGED,
    blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
    enforceSSL: true,
    // The function that writes a day may also overwrite it.
    versioned: true,
    // A run that died has its part written again, as it was: such versions need not stay for good.
    lifecycleRules: [{ noncurrentVersionExpiration: Duration.days(365) }],
    // In every stage: its rows may be nowhere else by then.
    removalPolicy: RemovalPolicy.RETAIN,
  })
  const reason = 'Nobody but its owner can read it, and a second bucket for the log of the first would need one itself.'
  acknowledge(bucket, 'S1', reason)
  const databaseName = `waybill_${stage.name.replaceAll('-', '_')}`
  const catalogId = Aws.ACCOUNT_ID
  const databaseInput = { name: databaseName, description: `Usage of the Waybill stage ${stage.name}` }
  const database = new CfnDatabase(scope, 'Database', { catalogId, databaseInput })
  new CfnTable(scope, 'Table', { catalogId, databaseName, tableInput: tableOf(bucket) }).addResourceDependency(database)
  const days = [EXPORT_FOLDER, FOCUS_FOLDER].map((folder) => bucket.arnForObjects(`${folder}/*`))
  return {
    bucket,
    database: databaseName,
    /** May write days, and read or delete none. */
    write: new PolicyStatement({ actions: ['s3:PutObject'], resources: days }),
    acknowledged: days.map((all) => wildcard(scope, all, 'A day is a folder, with as many parts as its rows need.')),
  }
}

/** Days are found by their names, so that none has to be added to the table. */
function tableOf({ bucketName }: Bucket): CfnTable.TableInputProperty {
  const location = `s3://${bucketName}/${EXPORT_FOLDER}/`
  return {
    name: 'usage',
    description: 'One line for each request, by the UTC day on which it began',
    tableType: 'EXTERNAL_TABLE',
    parameters: {
      classification: 'json',
      'projection.enabled': 'true',
      'projection.dt.type': 'date',
      'projection.dt.format': 'yyyy-MM-dd',
      // Before this day no stage had a row.
      'projection.dt.range': '2026-01-01,NOW',
      'projection.dt.interval': '1',
      'projection.dt.interval.unit': 'DAYS',
      'storage.location.template': `${location}dt=\${dt}/`,
    },
    partitionKeys: [{ name: 'dt', type: 'string' }],
    storageDescriptor: {
      columns: EXPORT_COLUMNS,
      location,
      inputFormat: 'org.apache.hadoop.mapred.TextInputFormat',
      outputFormat: 'org.apache.hadoop.hive.ql.io.HiveIgnoreKeyTextOutputFormat',
      serdeInfo: { serializationLibrary: 'org.openx.data.jsonserde.JsonSerDe' },
    },
  }
}
