import type { Zone } from './settings.ts'
import type { Stage } from './stages.ts'

/** The resources of a stage's CloudFront that must be in us-east-1. */
export type EdgeNeeds = {
  /** A certificate that has to be made. */
  readonly certificate: { readonly name: string; readonly zone: Zone } | undefined
  readonly firewall: boolean
  readonly logs: boolean
}

export function edgeNeedsOf({ edge, domain, waf, edgeLogs }: Stage): EdgeNeeds {
  const zone = domain?.certificateArn === undefined ? domain?.hostedZone : undefined
  return {
    certificate: edge && domain && zone ? { name: domain.name, zone } : undefined,
    firewall: edge && waf !== 'off',
    logs: edge && edgeLogs,
  }
}

export function needsUsEast1(stage: Stage): boolean {
  return Object.values(edgeNeedsOf(stage)).some(Boolean)
}
