import { plainLine } from '../gateway/domain/basics/plain-text.ts'
import { shortened } from './output.ts'
import type { Terminal } from './terminal.ts'

export type Progress = ReturnType<typeof startProgress>

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']
const FRAME_MS = 100
const PATIENT_MS = 1_000
const ERASE = '\r\u001b[2K'

/** A line on standard error, if that is a terminal, that tells of a command that takes longer than a second. */
export function startProgress(errors: Terminal['errors'], first: string, patientMs = PATIENT_MS) {
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
  const timer = errors.isTTY ? setInterval(draw, FRAME_MS).unref() : undefined
  /** Before something else is printed there. The line comes back. */
  const clear = () => {
    if (isDrawn) errors.write(ERASE)
    isDrawn = false
  }
  return {
    say: (said: string) => {
      text = said
    },
    clear,
    stop: () => {
      clearInterval(timer)
      clear()
    },
  }
}
