import type { Subject } from '../stand.ts'
import type { Cores } from './cores.ts'
import { sendMany } from './load.ts'
import { type MeasuredProcess, type Options, startMeasured } from './measured-process.ts'

// An instance that serves is warm: V8 has compiled what it will. By itself it does so for good with what runs once a request
// after some ten thousand of them, all at once, and for a second a request costs five times as much.

/** So told, V8 does so in the first thousands, for whoever is measured. */
const COMPILES_SOON = '--invocation-count-for-turbofan=500'
/** When it has, by its own trace. */
const ENOUGH = 3_500

/** A gateway that is measured when it is warm. */
export function startGateway(cores: Cores, args: readonly string[], options?: Options): MeasuredProcess {
  return startMeasured(cores, [COMPILES_SOON, ...args], options)
}

/** Who has been warmed up, for streams or for whole answers. */
const warm = { streams: new WeakSet<Subject>(), wholes: new WeakSet<Subject>() }

/** Sends a subject so many requests that its next ones cost what they always will, unless it has had them. */
export async function warmUp(subject: Subject, kind: keyof typeof warm): Promise<void> {
  if (warm[kind].has(subject)) return
  await sendMany(subject.target, { model: 'hundred-chunks', stream: kind === 'streams' }, ENOUGH)
  warm[kind].add(subject)
}
