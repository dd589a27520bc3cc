import type { Subject } from '../stand.ts'
import type { Cores } from './cores.ts'
import { sendMany } from './load.ts'
import { type MeasuredProcess, type Options, startMeasured } from './measured-process.ts'

// A serving instance is warm: V8 has compiled its code. By default V8 optimises code that runs once a request after
// some ten thousand requests, all at once, and for a second a request costs five times as much.

/** With this option V8 optimises within the first thousands, for every subject. */
const COMPILES_SOON = '--invocation-count-for-turbofan=500'
/** The number of requests after which it has, by its own trace. */
const ENOUGH = 3_500

/** A gateway that is measured when it is warm. */
export function startGateway(cores: Cores, args: readonly string[], options?: Options): MeasuredProcess {
  return startMeasured(cores, [COMPILES_SOON, ...args], options)
}

/** The subjects that are warm, for streams or for whole answers. */
const warm = { streams: new WeakSet<Subject>(), wholes: new WeakSet<Subject>() }

/** Sends a subject so many requests that its next ones have a steady cost, unless it has had them. */
export async function warmUp(subject: Subject, kind: keyof typeof warm): Promise<void> {
  if (warm[kind].has(subject)) return
  await sendMany(subject.target, { model: 'hundred-chunks', stream: kind === 'streams' }, ENOUGH)
  warm[kind].add(subject)
}
