// List prices of us-east-1 in dollars, as of 2025, without free tiers, discounts and taxes. AWS changes them: each
// names the page of aws.amazon.com that has it, to be checked before anybody relies on it.

export type Price = { readonly dollars: number; readonly per: string; readonly source: string }

export const PRICES = {
  lambdaTime: {
    dollars: 0.0000133334,
    per: 'GB-second',
    source: 'Lambda Pricing: Arm, the first 7.5 billion GB-seconds a month',
  },
  lambdaRequest: { dollars: 0.2, per: 'million requests', source: 'Lambda Pricing' },
  dynamodbWrite: {
    dollars: 0.625,
    per: 'million write request units',
    source: 'DynamoDB Pricing, on-demand: standard table class, since November 2024',
  },
  dynamodbStorage: {
    dollars: 0.25,
    per: 'GB-month',
    source: 'DynamoDB Pricing, on-demand: storage',
  },
  dynamodbBackup: {
    dollars: 0.2,
    per: 'GB-month',
    source: 'DynamoDB Pricing, on-demand: point-in-time recovery',
  },
  cloudfrontRequest: {
    dollars: 1,
    per: 'million HTTPS requests',
    source: 'CloudFront Pricing: United States, $0.0100 for 10,000',
  },
  cloudfrontFunction: { dollars: 0.1, per: 'million calls', source: 'CloudFront Pricing: CloudFront Functions' },
  cloudfrontOut: {
    dollars: 0.085,
    per: 'GB to the internet',
    source: 'CloudFront Pricing: United States and Europe, first 10 TB a month',
  },
  promptOut: {
    dollars: 0.11,
    per: 'GB to the provider',
    source: 'CloudFront Pricing: $0.020 to the origin; EC2 On-Demand Pricing, data transfer: $0.09 out to the internet',
  },
  firewallRequest: { dollars: 0.6, per: 'million requests', source: 'WAF Pricing: beside $5 and $1 a rule a month' },
  logs: {
    dollars: 0.5,
    per: 'GB taken in',
    source: 'CloudWatch Pricing: logs of Lambda, standard class, first 10 TB a month',
  },
} as const satisfies Record<string, Price>
