import type { ILogGroup } from 'aws-cdk-lib/aws-logs'
import { CfnQueryDefinition } from 'aws-cdk-lib/aws-logs'
import type { Construct } from 'constructs'
import type { Stage } from '../stages.ts'

const SHOWN = 'fields @timestamp, level, event, requestId, keyId, model, provider, httpStatus, errorCode, durationMs'
const FAULT = 'what, error.message, reason, message'

/** Queries of Logs Insights over the lines of layers/gateway/platform/log. A word in capitals is replaced before it is run. */
const QUERIES: Readonly<Record<string, string>> = {
  'by request id': `${SHOWN}, ${FAULT} | filter requestId = "REQUEST_ID" | sort @timestamp asc`,
  'by key': `${SHOWN} | filter keyId = "KEY_ID" | sort @timestamp desc | limit 200`,
  'by level': `fields @timestamp, level, event, requestId, provider, ${FAULT}, @log | filter level in ["warn", "error"] | sort @timestamp desc | limit 200`,
}

export function addSavedQueries(scope: Construct, { name: stage }: Stage, logs: readonly ILogGroup[]): void {
  for (const [name, queryString] of Object.entries(QUERIES)) {
    new CfnQueryDefinition(scope, `Query ${name}`, {
      name: `Waybill-${stage}/${name}`,
      queryString,
      logGroupNames: logs.map(({ logGroupName }) => logGroupName),
    })
  }
}
