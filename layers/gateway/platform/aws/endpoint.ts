/** The domains of services by the beginning of the region's name; amazonaws.com for all others. */
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
