/** Where the names of services end, by how the region's begins; everywhere else in amazonaws.com. */
const SUFFIXES = {
  'cn-': 'amazonaws.com.cn',
  'eusc-': 'amazonaws.eu',
  'us-iso-': 'c2s.ic.gov',
  'us-isob-': 'sc2s.sgov.gov',
  'us-isof-': 'csp.hci.ic.gov',
  'eu-isoe-': 'cloud.adc-e.uk',
}

export function endpointOf(service: string, region: string): string {
  const [, suffix = 'amazonaws.com'] = Object.entries(SUFFIXES).find(([start]) => region.startsWith(start)) ?? []
  return `https://${service}.${region}.${suffix}`
}
