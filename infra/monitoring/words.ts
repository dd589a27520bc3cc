/** ACM renews a certificate long before. */
export const LEAST_CERTIFICATE_DAYS = 21

const REPORTED_USAGE = '`usage list` shows the provider; ask it, or take the route out of service.'
const SLOW = '`Time to first token by provider` on the dashboard; `routes list`; another route first, or a fallback.'
const THROTTLED = 'One key above 1,000 writes a second: `usage summary --by key`; give it lanes: a hot key.'

/** The fault in a first sentence, then what to do first. docs/operate.md has a copy of each, which a test compares. */
export const WORDS = {
  ServerErrors:
    'A twentieth of the requests got a 5xx that is the gateway’s own, with a row or without one, as while the database is away. `Errors by code` and `Unrecorded` on the dashboard; the saved query `by level`; after a deployment, stop the rollout.',
  UpstreamErrors:
    'A fifth of the requests got a 502, 504 or 503 upstream_rate_limited, or a stream that broke, because no upstream answered them. `routes test`; the provider’s status page; take the route out of service, or add a fallback.',
  CredentialFailures:
    'A provider refuses our key, there is none, or its secret does not name the provider’s host. `routes test` names the secret; put the right key there, or take the route out of service.',
  ChatErrors:
    'A twentieth of the chats crashed or timed out. The log `ChatLogs`; after a deployment, stop the rollout.',
  ApiErrors:
    'A twentieth of the requests to the HTTP API got a 5xx. The logs `ApiLogs` and `ApiAccessLogs`; after a deployment, stop the rollout.',
  FunctionThrottles:
    'Lambda refuses to start functions. Raise the concurrency, unless the kill switch is on; one key’s flood ends with `keys revoke`.',
  ApiThrottles:
    'API Gateway refuses calls to the HTTP API or the admin API, because too many come at once. Whose they are: the log `ApiAccessLogs` or `AdminApiLogs`; raise `apiRequestsPerSecond` and deploy, or end the flood with `keys revoke`.',
  SweepStopped:
    'No sweep has succeeded for a quarter of an hour, as before the first one of a stage. The log `SweepLogs`; its schedule in EventBridge Scheduler.',
  ProbeFailed:
    'No probe has got an answer of a model for a quarter of an hour, as before the first one of a stage. The log `ProbeLogs` says how it failed; then `smoke`. If nothing answers: DNS, the certificate, the firewall, the last deployment. If its secret is missing, as after a first deployment, or its key is refused: `keys create --name probe --scopes models.read,chat.completions --credits 10`, and put that into its secret.',
  EdgeErrors:
    'A fifth of the requests to CloudFront got a 5xx. If no other alarm is on, CloudFront does not reach the functions: `smoke`; the last deployment.',
  ReleaseErrors:
    'The version that is being deployed crashes, or fails a twentieth of its own calls; it is rolled back. The function’s log; the deployment in CodeDeploy.',
  AdminReleaseErrors:
    'The version of the admin API that is being deployed crashes or times out; it is rolled back. The log `AdminLogs`; the deployment in CodeDeploy.',
  RolledBack:
    'A deployment failed or was stopped, and the version before has all calls again. The alarm that went off before it; the deployment in CodeDeploy; then `smoke`.',
  Problems:
    'Something that should not happen was logged. The saved query `by level`; then `by request id` with the `requestId` of the line.',
  InvalidKeys:
    'A hundred requests in five minutes had no valid key. A client with an old key: its address is in the log `ApiAccessLogs`, or in CloudFront’s.',
  Unsettled:
    'Requests could not be settled; the sweep will finish them. Throttles and errors of DynamoDB; `audit` after the next sweep.',
  SweptHolds:
    'Requests died under way and were finished by the sweep. Crashes and timeouts in the log `ChatLogs`; `audit`.',
  RoughEstimates:
    'The tokenizer cannot be reached; answers are billed by their characters. The saved query `by level`; the log `TokenizerLogs`; the account’s concurrency.',
  UsageRejected: `Upstreams report usage that is none; the answers are billed by estimate. ${REPORTED_USAGE}`,
  BilledAtBound: `Upstreams counted more than was held for; the hold was charged, which may not cover the bill. ${REPORTED_USAGE}`,
  ContextExceeded:
    'Upstreams counted prompts above the contextLength of their model, so that holds are too small. `context_exceeded` in the log `ChatLogs` names the route; `catalog check --stage`; correct its model.',
  BeyondCap:
    'Routes ignore the output cap that they are given; their answers were cut, and may not cover their bill. `beyond_cap` in the log `ChatLogs` names provider and model; set its `capField`, or another route.',
  NegativeMargins:
    'Answers cost us more than was charged for them. `catalog check` and `usage summary`; raise the price, or correct the cost.',
  LossReached:
    'Keys have cost as much beyond their charges as dailyLoss allows for a UTC day. `loss_reached` in the log `ChatLogs` names the key and a request; `usage show` says why; see what a key may lose.',
  UnpaidAnswers:
    'Answers are given up and reach nobody, but providers may bill them. The provider is slow: `routes list`; raise its `firstByteTimeoutMs`, or take the route out of service.',
  SlowFirstTokens: `One of twenty answers began later than slowFirstTokenMs allows. ${SLOW}`,
  SlowRequests: `One of twenty requests took longer than five minutes. ${SLOW}`,
  FunctionErrors:
    'Functions besides chat, the sweep and the admin API crash or time out. Their logs, by the saved query `by level`; after a deployment, stop the rollout.',
  AdminErrors:
    'The admin API answers with 5xx, crashes or times out. The logs `AdminLogs` and `AdminApiLogs`; meanwhile on-call can end a key in the table.',
  ChatDuration:
    'A chat request came close to the function’s limit of 15 minutes. Slow models or clients: `usage list` has the key and the model of each request.',
  ConcurrencyHigh:
    'Four fifths of the chats that may run at once are running. Raise the concurrency before callers are refused; `usage summary --by key` names who makes them.',
  ClosingStopped:
    'No run that closes days has succeeded for three hours, as before the first one of a stage. The log `CloseLogs`; its schedule in EventBridge Scheduler.',
  DaysBehind:
    'Two days or more that have ended are not closed, or not exported. The log `CloseLogs`; `audit` names a request that died and is not swept.',
  TrailStopped:
    'The trail of who touches the table of keys does not record, or nobody knows whether it does. `trailFault` in the log `CloseLogs` says why; `aws cloudtrail start-logging`, or deploy again if it is gone. Who stopped it is in the event history of CloudTrail.',
  KeysThrottles: `DynamoDB throttles the table of keys. ${THROTTLED}`,
  UsageThrottles: `DynamoDB throttles the table of usage. ${THROTTLED}`,
  AnswersThrottles: `DynamoDB throttles the table of answers. ${THROTTLED}`,
  CopyFailed:
    'A daily copy of the tables to another region or account failed. AWS Backup, Jobs, has the reason: a vault that is gone, or one whose policy or key refuses this account.',
  FirewallBlocks:
    'The firewall blocks a hundred requests in five minutes. The log `FirewallLogs`, if `edgeLogs` keeps it, names address and rule; for good clients raise `chatConcurrency`, or set `waf` to `count`.',
  CertificateEnds: `The certificate of the domain ends within ${LEAST_CERTIFICATE_DAYS} days. ACM in us-east-1 says why it was not renewed: a DNS record is gone, or it was imported and is yours to renew.`,
}

export type AlarmName = keyof typeof WORDS

/** The text for a person who is called up: the fault, the remedy, and the address of its line in the runbook. */
export function describe({ name: stage }: { readonly name: string }, name: AlarmName): string {
  return `Waybill ${stage}: ${WORDS[name].replace('. ', '.\n')}\ndocs/operate.md#alarm-${name.toLowerCase()}`
}
