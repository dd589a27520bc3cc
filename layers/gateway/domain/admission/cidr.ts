// Strict on purpose: ipaddr.js admits `0x7f.1` and `10.0.0/8`, and with net.BlockList `::/0` admits IPv4.

type Address = { readonly bits: 32 | 128; readonly value: bigint }

export function parseAddress(text: string): Address | undefined {
  return text.includes(':') ? parseIpv6(text) : parseIpv4(text)
}

export function cidrProblem(text: string): string | undefined {
  const slash = text.indexOf('/')
  const base = slash < 0 ? text : text.slice(0, slash)
  const address = parseAddress(base)
  if (!address) return 'is not an IPv4 or IPv6 range such as 203.0.113.0/24 or 2001:db8::/32'
  if (base.includes(':') && address.bits === 32) return 'is an IPv4 address in IPv6 form: write it as IPv4'
  if (slash < 0) return `has no prefix length: write ${text}/${address.bits} for this one address`
  const length = text.slice(slash + 1)
  if (!/^(0|[1-9]\d{0,2})$/.test(length) || Number(length) > address.bits) {
    return `has a prefix length that is not between 0 and ${address.bits}`
  }
  const canonical = `${format(networkOf(address, Number(length)))}/${length}`
  return canonical === text ? undefined : `is not in canonical form: write ${canonical}`
}

export function cidrContains(cidr: string, address: string): boolean {
  const [base = '', length = ''] = cidr.split('/')
  const network = parseAddress(base)
  const candidate = parseAddress(address)
  if (!network || !candidate || network.bits !== candidate.bits) return false
  return networkOf(candidate, Number(length)).value === network.value
}

/** True if an address is in one of the ranges, as they are typed; one without a prefix length contains nothing. */
export function isInRanges(address: string, ranges: readonly string[]): boolean {
  return ranges.some((range) => /\/\d+$/.test(range) && cidrContains(range, address))
}

function networkOf(address: Address, length: number): Address {
  const hostBits = BigInt(address.bits - length)
  return { bits: address.bits, value: (address.value >> hostBits) << hostBits }
}

function parseIpv4(text: string): Address | undefined {
  const parts = text.split('.')
  if (parts.length !== 4) return undefined
  let value = 0n
  for (const part of parts) {
    if (!/^(0|[1-9]\d{0,2})$/.test(part) || Number(part) > 255) return undefined
    value = (value << 8n) | BigInt(part)
  }
  return { bits: 32, value }
}

/** An IPv4-mapped address counts as IPv4. */
function parseIpv6(text: string): Address | undefined {
  const canonical = canonicalIpv6(text)
  if (canonical === undefined) return undefined
  const [head = [], tail = []] = canonical.split('::').map((half) => (half === '' ? [] : half.split(':')))
  const groups = [...head, ...Array<string>(8 - head.length - tail.length).fill('0'), ...tail]
  const value = groups.reduce((sum, group) => (sum << 16n) | BigInt(`0x${group}`), 0n)
  return value >> 32n === 0xffffn ? { bits: 32, value: value & 0xffffffffn } : { bits: 128, value }
}

/** In the form of RFC 5952, in which a URL has the address of its host. */
function canonicalIpv6(text: string): string | undefined {
  return /^[0-9a-f:.]+$/i.test(text) ? URL.parse(`http://[${text}]`)?.hostname.slice(1, -1) : undefined
}

function format({ bits, value }: Address): string | undefined {
  if (bits === 32) return [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 255n).join('.')
  return canonicalIpv6(value.toString(16).padStart(32, '0').match(/.{4}/g)?.join(':') ?? '')
}
