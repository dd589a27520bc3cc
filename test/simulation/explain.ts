import type { Variant } from './commands.ts'
import type { History, KeySetup } from './history.ts'
import { shrink } from './shrink.ts'
import { live } from './world.ts'

/** The violation, in the shortest history that has it, step by step. */
export async function explain(whole: History, violation: string, variant: Variant | undefined): Promise<string> {
  const short = await shrink(whole, async (tried) => (await live(tried, variant)).violation !== undefined)
  const lines: string[] = []
  await live(short, variant, (line) => lines.push(line))
  const words = (key: KeySetup) => Object.entries(key).map(([name, value]) => `${name} ${value}`)
  const keys = short.keys.map((key) => `a key of ${words(key).join(', ')}`)
  return [
    `Seed ${whole.seed}: ${violation}`,
    `The shortest history that breaks (${short.steps.length} of ${whole.steps.length} steps; then everything comes to rest):`,
    `   0. ${short.nodes} nodes, ${keys.join(', ')}`,
    ...lines.map((line, i) => `${String(i + 1).padStart(4)}. ${line}`),
    `Again: npm run simulate -- --seed ${whole.seed} --histories 1${variant ? ` --broken '${variant.name}'` : ''}`,
  ].join('\n')
}
