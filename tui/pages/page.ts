import { cutMiddle } from '../../cli/print/cut.ts'
import { alignText } from '../../cli/print/table.ts'
import { textWidth } from '../../cli/print/text-width.ts'
import {
  escapeControls,
  formatMilliseconds,
  formatShare,
  formatSince,
  formatValue,
  toneOf,
  valueAt,
} from '../../src/admin/contract/show-value.ts'
import type { DrawArea, TextTheme } from '../screen.ts'
import { numberAt } from '../status-watch.ts'

/** A further operation that a page shows the answer of. */
export interface PageQuestion {
  operation: string
  input: object
}

/** A thing drawn for people, in place of a list of its fields. */
export interface RecordPage {
  /** Asked again and again while the page is in sight. */
  questions(thing: unknown): readonly PageQuestion[]
  /** `answers` by operation; undefined: none came yet. */
  draw(thing: unknown, answers: ReadonlyMap<string, unknown>, area: DrawArea): string[]
}

const signs: Readonly<Record<string, string>> = {
  ready: '●',
  failing: '▲',
  recovering: '◌',
  unchecked: '○',
  inactive: '○',
}

/** `▲ failing for 3 min`, in the words that every face has for it. */
export function describeState(thing: unknown, theme: TextTheme): string {
  const state = stateOf(thing)
  if (state === null) return theme.paint('quiet', 'state unknown')
  const tone = toneOf(state, 'state')
  const word = `${signs[state] ?? '○'} ${escapeControls(state)}`
  const since = state === 'inactive' ? null : textAt(thing, 'state_since')
  const age = since === null ? '' : ` ${formatSince(since, theme)}`
  return (tone === null ? word : theme.paint(tone, word)) + theme.paint('quiet', age)
}

/**
 * A name with what is said of it behind it, which is whole however long the name is. `widest`: of the names below one another,
 * whose states are, too.
 */
export function besideName(
  name: string,
  state: (theme: TextTheme) => string,
  { width, theme }: Pick<DrawArea, 'width' | 'theme'>,
  widest = 0,
): string {
  const stateWidth = textWidth(state({ ...theme, paint: (_, text) => text }))
  const room = Math.max(leastName, width - stateWidth - 2)
  const shown = alignText(cutMiddle(name, room), Math.min(room, widest), false)
  return `${theme.paint('strong', shown)}  ${state(theme)}`
}

const leastName = 12

/** Why it is in that state; null: that says itself. */
export function reasonOf(thing: unknown): string | null {
  return stateOf(thing) === 'inactive' ? null : textAt(thing, 'state_reason')
}

function stateOf(thing: unknown): string | null {
  return valueAt(thing, 'active') === false ? 'inactive' : textAt(thing, 'state')
}

/** What was tried, and how it went; a rate is always one of attempts. */
export function describeAttempts(figures: unknown, theme: TextTheme): string[] {
  const tried = numberAt(figures, 'tried') ?? numberAt(figures, 'requests') ?? 0
  if (tried === 0) return [theme.paint('quiet', 'no attempts')]
  const failed = numberAt(figures, 'failed') ?? numberAt(figures, 'errors') ?? 0
  const fellBack = numberAt(figures, 'fell_back') ?? 0
  const p95 = numberAt(figures, 'duration_p95_ms')
  const lost = `${count(failed, theme)} failed (${formatShare(failed / tried)})`
  return [
    `${count(tried, theme)} ${tried === 1 ? 'attempt' : 'attempts'}`,
    failed === 0 ? 'none failed' : theme.paint(failed / tried > 0.05 ? 'bad' : 'warning', lost),
    ...(fellBack === 0 ? [] : [`${count(fellBack, theme)} fell back`]),
    ...(p95 === null ? [] : [`p95 ${formatMilliseconds(p95)}`]),
  ]
}

export function count(value: number, theme: TextTheme): string {
  return formatValue(value, 'number', theme)
}

export function textAt(thing: unknown, path: string): string | null {
  const value = valueAt(thing, path)
  return typeof value === 'string' && value !== '' ? value : null
}

export function listAt(thing: unknown, path: string): readonly unknown[] {
  const value = valueAt(thing, path)
  return Array.isArray(value) ? value : []
}

/** A heading and what stands under it, set in; nothing where there is nothing. */
export function section(title: string, lines: readonly string[], theme: TextTheme): string[] {
  return lines.length === 0 ? [] : ['', theme.paint('strong', title), ...lines.map((line) => `  ${line}`)]
}
