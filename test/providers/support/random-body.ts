import { Random } from '../../simulation/random.ts'
import { FORBIDDEN, PASSED } from './field-samples.ts'

const SAMPLES: Readonly<Record<string, unknown>> = { ...PASSED, ...FORBIDDEN }
const NAMES = Object.keys(SAMPLES)
const ODD_NAMES = ['constructor', 'toString', 'x', 'ünï', '', 'Model', 'MAX_TOKENS', 'plugins ', 'messages[0]']
const ODD_VALUES = [null, true, 0, -1, 1.5, '', 'priority', 'auto', [], ['audio'], {}, [{ type: 'web_search' }]]

/** A handful of fields, most with a value that belongs to them. The same seed gives the same body. */
export function randomBody(seed: number): Record<string, unknown> {
  const random = new Random(seed)
  const body: Record<string, unknown> = {}
  for (let left = random.below(6); left > 0; left--) {
    const name = random.chance(0.1) ? random.pick(ODD_NAMES) : random.pick(NAMES)
    body[name] = random.chance(0.7) ? (SAMPLES[name] ?? 1) : random.pick(ODD_VALUES)
  }
  return body
}
