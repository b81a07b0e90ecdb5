import type { EnvironmentVariables } from '../cli/io.ts'
import type { TerminalStyle } from './frame.ts'

/** The process whose terminal this is. */
export type TerminalProcess = Pick<NodeJS.Process, 'on' | 'off' | 'once' | 'kill'>

const deadly = { SIGHUP: 1, SIGINT: 2, SIGQUIT: 3, SIGTERM: 15 } as const

/**
 * Calls `leave` once when the process is told to end or has a fault that nobody caught, so that the terminal is given back
 * first; ink's own way there leaves it raw on a signal. Gives a function that stops the watch.
 */
export function watchEnd(from: TerminalProcess, leave: (status: number, fault: unknown) => void): () => void {
  const signals = Object.entries(deadly) as [keyof typeof deadly, number][]
  const ends = signals.map(([signal, number]) => [signal, () => leave(128 + number, null)] as const)
  const fail = (fault: unknown) => leave(1, fault)
  for (const [signal, end] of ends) from.on(signal, end)
  from.on('uncaughtException', fail)
  return () => {
    for (const [signal, end] of ends) from.off(signal, end)
    from.off('uncaughtException', fail)
  }
}

/** Ctrl-Z: the terminal is given back, the whole job stops, and when it goes on the screen is taken again. */
export async function suspendJob(
  from: TerminalProcess,
  release: () => Promise<{ resume(): Promise<void> }>,
): Promise<void> {
  const held = await release()
  const woken = new Promise<void>((resolve) => from.once('SIGCONT', () => resolve()))
  // 0: the process group, for a shell waits for all of it. SIGSTOP, since a handler of SIGTSTP would be ours.
  from.kill(0, 'SIGSTOP')
  await woken
  await held.resume()
}

/**
 * Terminals do not agree on how wide some signs are (an emoji with a skin tone). While this is off, a line that comes out too long
 * is cut; else it would scroll the whole screen.
 */
export const lineWrap = { off: '\u001b[?7l', on: '\u001b[?7h' } as const

/** What the terminal can show, as far as the environment says. */
export function readStyle(environment: EnvironmentVariables, wantsColour: boolean, utc: boolean): TerminalStyle {
  const locale = environment.LC_ALL || environment.LC_CTYPE || environment.LANG || ''
  const poor = /^(dumb|linux|vt\d+|ansi)$/.test(environment.TERM ?? 'dumb')
  return { colour: wantsColour, unicode: /utf-?8/i.test(locale) && !poor, utc }
}

/** Copies to the terminal's own clipboard (OSC 52), wherever the terminal is: it goes through SSH and tmux. */
export function copySequence(text: string): string {
  return `\u001b]52;c;${Buffer.from(text).toString('base64')}\u0007`
}
