import { escapeControls } from './escape-controls.ts'

/** What a program that opens tables takes for the beginning of a formula, full-width forms included. */
const formula = /^\s*[=+\-@＝＋－＠]./s

/**
 * One line of RFC 4180 with `\n`, the only writer of CSV. Cells hold what clients wrote (models, tags, user agents): a formula gets an
 * apostrophe before it, which makes it a text, and control characters are shown instead of obeyed by a terminal.
 */
export function csvLine(cells: readonly unknown[]): string {
  return `${cells.map(csvCell).join(',')}\n`
}

function csvCell(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
  const safe = (formula.test(text) ? `'${text}` : text).split('\n').map(escapeControls).join('\n')
  return /[",\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
