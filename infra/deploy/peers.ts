import { createRequire } from 'node:module'

/** npm and pnpm install them with the package, others do not. */
export const PEERS = ['aws-cdk-lib', 'constructs']

export function requirePeers(): void {
  const { resolve } = createRequire(import.meta.url)
  try {
    for (const peer of PEERS) resolve(peer)
  } catch {
    throw new Error(
      `The CDK is not installed here. Add it beside waybill, for example with 'yarn add ${PEERS.join(' ')}'.`,
    )
  }
}
