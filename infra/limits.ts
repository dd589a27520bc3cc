/** AWS's limits on what grows with the catalog and names: "IAM and AWS STS quotas", "Lambda quotas", CloudWatch Logs. */
export const LIMITS = {
  managedPoliciesOfRole: 10,
  /** Half of an asynchronous event: that of an update has the former properties, too. */
  bytesOfSeed: 500_000,
  charactersOfDelivery: 60,
} as const

/** The words of a template that is refused while it is made, because the operator's own catalog makes it too large. */
export function beyondLimit(what: string, got: number, most: number, advice: string): string {
  return `${what}: ${got}, and AWS takes at most ${most}. ${advice}`
}
