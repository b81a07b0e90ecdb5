import { styleText } from 'node:util'
import type { Clock, Tone } from '../../src/admin/contract/show-value.ts'
import { type Io, wantsColour } from '../io.ts'

/** How a result is to look for a person. */
export interface View extends Clock {
  /** Columns of the terminal; null: no terminal, so nothing is dropped or cut. */
  width: number | null
  paint: Paint
}

export type Paint = (tone: Tone, text: string) => string

const styles = { strong: 'bold', quiet: 'dim', good: 'green', bad: 'red', warning: 'yellow' } as const

/** Colour never carries a meaning alone: the words are the same without it. */
export function makePaint(colour: boolean): Paint {
  if (!colour) return (_, text) => text
  // Whether to colour is decided by our caller from handed-in values, not again from the process.
  return (tone, text) => styleText(styles[tone], text, { validateStream: false })
}

export function stdoutView(io: Io, utc: boolean): View {
  return {
    width: io.stdout.isTerminal ? (io.stdout.columns ?? 80) : null,
    paint: makePaint(wantsColour(io.stdout, io.environment)),
    now: io.now(),
    utc,
  }
}
