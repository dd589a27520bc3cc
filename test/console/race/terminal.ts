import { type Recording, textOf } from './record.ts'
import { CAPTION_HEIGHT, HEIGHT, WIDTH } from './stage.ts'

export type Shot = { readonly body: string; readonly ms: number }

const STEP_MS = 80
const TYPING_STEPS = 8
const MARGIN = 28
const LARGEST_FONT = 21

// biome-ignore lint/suspicious/noControlCharactersInRegex: a terminal's colours begin with one.
const COLOUR = /\u001b\[(\d+)m/g
const COLOUR_ENDS = ['39', '49']

/** A terminal in which these commands run one after the other. */
export function openTerminal(recordings: readonly Recording[]) {
  const font = fontFor(recordings.map((recording) => screenOf(recording)).join('\n'))
  const shot = (screen: string): Shot => ({
    body: `<pre style="font-size: ${font}px">${toHtml(screen)}</pre>`,
    ms: STEP_MS,
  })

  /** The command is typed, and its output comes in the rhythm in which it came, within `playMs`. */
  return function play(recording: Recording, playMs: number): Shot[] {
    const { command, printed } = recording
    const above = recordings.slice(0, recordings.indexOf(recording)).map((before) => `${screenOf(before)}\n`)
    const [startMs, endMs] = [printed[0]?.atMs ?? 0, printed.at(-1)?.atMs ?? 0]
    const typing = inSteps(TYPING_STEPS, (part) => ({ command: command.slice(0, command.length * part), printed: [] }))
    const playing = inSteps(Math.ceil(playMs / STEP_MS), (part) => ({
      command,
      printed: printed.filter(({ atMs }) => atMs <= startMs + (endMs - startMs) * part),
    }))
    return [...typing, ...playing].map((seen) => shot(above.join('') + screenOf(seen)))
  }
}

function inSteps<T>(steps: number, at: (part: number) => T): T[] {
  return Array.from({ length: steps }, (_, i) => at((i + 1) / steps))
}

function screenOf(recording: Recording): string {
  return `$ ${recording.command}\n${textOf(recording)}`
}

/** The largest in which all lines fit, in width and in number. */
function fontFor(screen: string): number {
  const lines = screen.replaceAll(COLOUR, '').trimEnd().split('\n')
  const columns = Math.max(...lines.map(({ length }) => length))
  const [width, height] = [WIDTH - 2 * MARGIN, HEIGHT - CAPTION_HEIGHT - 2 * MARGIN]
  return Math.min(LARGEST_FONT, width / columns / 0.605, height / lines.length / 1.4)
}

function toHtml(screen: string): string {
  return screen
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll(COLOUR, (_, code) => (COLOUR_ENDS.includes(code) ? '</span>' : `<span class="c${code}">`))
    .replaceAll(/^\$ .*$/gm, '<b>$&</b>')
}
