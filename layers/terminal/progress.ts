import { plainLine } from '../gateway/domain/basics/plain-text.ts'
import { shortened } from './table.ts'
import type { Terminal } from './terminal.ts'

/** A line on a terminal that tells of a command that takes longer than a second. */
export type Progress = {
  readonly say: (text: string) => void
  /** Before something else is printed there. The line comes back. */
  readonly clear: () => void
  /** The line does not come back. */
  readonly stop: () => void
}

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']
const FRAME_MS = 100
const PATIENT_MS = 1_000
const ERASE = '\r\u001b[2K'

/** On standard error, and only if that is a terminal. */
export function startProgress(errors: Terminal['errors'], first: string, patientMs = PATIENT_MS): Progress {
  if (!errors.isTTY) return { say: () => {}, clear: () => {}, stop: () => {} }
  const startedMs = performance.now()
  let text = first
  let frame = 0
  let isDrawn = false
  const draw = () => {
    const elapsedMs = performance.now() - startedMs
    if (elapsedMs < patientMs) return
    const line = `${FRAMES[frame++ % FRAMES.length]} ${Math.floor(elapsedMs / 1000)} s  ${plainLine(text)}`
    errors.write(`${ERASE}${shortened(line, (errors.columns ?? 80) - 1)}`)
    isDrawn = true
  }
  const timer = setInterval(draw, FRAME_MS).unref()
  const clear = () => {
    if (isDrawn) errors.write(ERASE)
    isDrawn = false
  }
  return {
    say: (said) => {
      text = said
    },
    clear,
    stop: () => {
      clearInterval(timer)
      clear()
    },
  }
}
