import { OWN_CERTIFICATE, VAULTS } from '../fixtures/domains.ts'

const { certificateArn, hostedZone, ...domain } = OWN_CERTIFICATE
const DOMAINS = {
  none: {},
  certificate: { domain: { ...domain, certificateArn } },
  zone: { domain: { ...domain, hostedZone } },
}

/** The settings that decide which resources there are and what they refer to, with all their values. */
const CHOICES = {
  stage: ['dev', 'prod'],
  region: ['us-east-1', 'eu-west-1'],
  adminKeys: ['none', 'keys'],
  rollout: ['at-once', 'canary'],
  probe: ['off', 'on'],
  edge: [
    'none',
    'off none',
    'off certificate',
    'off zone',
    'count none',
    'count certificate',
    'count zone',
    'block none',
    'block certificate',
    'block zone',
  ],
} as const

type Choices = typeof CHOICES
/** A stage with its settings: `edge` is the firewall and the domain of CloudFront, if there is one. */
export type Combination = { readonly [Name in keyof Choices]: Choices[Name][number] }

export const COMBINATIONS: readonly Combination[] = CHOICES.stage.flatMap((stage) =>
  CHOICES.region.flatMap((region) =>
    CHOICES.adminKeys.flatMap((adminKeys) =>
      CHOICES.rollout.flatMap((rollout) =>
        CHOICES.probe.flatMap((probe) =>
          CHOICES.edge.map((edge) => ({ stage, region, adminKeys, rollout, probe, edge })),
        ),
      ),
    ),
  ),
)

/** One stage in one region with every resource that there can be. */
export const EVERYTHING = { adminKeys: 'keys', rollout: 'canary', probe: 'on', edge: 'block zone' } as const

export const nameOf = ({ stage, region, adminKeys, rollout, probe, edge }: Combination) =>
  [stage, region, adminKeys, rollout, `probe ${probe}`, edge].join(' ')

export function settingsOf({ adminKeys, rollout, probe, edge }: Combination): object {
  const [waf, domain] = edge.split(' ') as [string, keyof typeof DOMAINS | undefined]
  return {
    rollout,
    // Small parts, on which no other depends.
    probe: probe === 'on',
    ...(probe === 'on' && { notices: true, backup: VAULTS }),
    adminKeys: adminKeys === 'keys',
    ...(domain === undefined
      ? { edge: false, waf: 'off', edgeLogs: false }
      : { waf, edgeLogs: true, ...DOMAINS[domain] }),
  }
}

/** A part of the combinations in which any two values of two settings meet. */
export function pairwise(): Combination[] {
  const left = new Set(COMBINATIONS.flatMap(pairsOf))
  const chosen: Combination[] = []
  const gainOf = (combination: Combination) => pairsOf(combination).filter((pair) => left.has(pair)).length
  while (left.size > 0) {
    const best = COMBINATIONS.reduce((a, b) => (gainOf(b) > gainOf(a) ? b : a))
    for (const pair of pairsOf(best)) left.delete(pair)
    chosen.push(best)
  }
  return chosen
}

function pairsOf(combination: Combination): string[] {
  const values = Object.entries(combination).map(([name, value]) => `${name} ${value}`)
  return values.flatMap((one, i) => values.slice(i + 1).map((other) => `${one}, ${other}`))
}
