type Address = { readonly bits: bigint; readonly width: 32 | 128 }

/** True if an address is in one of the ranges; an invalid range contains nothing. */
export function isInRanges(address: string, ranges: readonly string[]): boolean {
  const own = parseAddress(address)
  return own !== undefined && ranges.some((range) => holds(range, own))
}

function holds(range: string, own: Address): boolean {
  const [text = '', length] = range.split('/')
  const base = parseAddress(text)
  if (!base || base.width !== own.width) return false
  const free = BigInt(base.width) - BigInt(/^\d{1,3}$/.test(length ?? '') ? (length ?? '') : base.width)
  return free >= 0n && base.bits >> free === own.bits >> free
}

function parseAddress(text: string): Address | undefined {
  return text.includes(':') ? parseIpv6(text) : parseIpv4(text)
}

function parseIpv4(text: string): Address | undefined {
  const parts = text.split('.')
  if (parts.length !== 4 || !parts.every((part) => /^\d{1,3}$/.test(part) && BigInt(part) < 256n)) return undefined
  return { bits: join(parts.map(BigInt), 8n), width: 32 }
}

function parseIpv6(text: string): Address | undefined {
  const [head = '', tail] = text.split('::')
  const [before, after] = [groups(head), groups(tail ?? '')]
  const gap = tail === undefined ? 0 : 8 - before.length - after.length
  const all = [...before, ...Array<string>(Math.max(gap, 0)).fill('0'), ...after]
  if (all.length !== 8 || !all.every((group) => /^[0-9a-f]{1,4}$/i.test(group))) return undefined
  return {
    bits: join(
      all.map((group) => BigInt(`0x${group}`)),
      16n,
    ),
    width: 128,
  }
}

function groups(text: string): string[] {
  return text === '' ? [] : text.split(':')
}

function join(parts: readonly bigint[], bits: bigint): bigint {
  return parts.reduce((sum, part) => (sum << bits) | part, 0n)
}
