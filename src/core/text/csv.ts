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

/** The rows of RFC 4180, with `\n` or `\r\n`, a byte order mark or none. A quotation mark that is never closed takes the rest. */
export function parseCsv(text: string): string[][] {
  const rows: string[][] = []
  let row: string[] = []
  const pattern = /(?:"((?:[^"]|"")*)(?:"|$)|([^,\r\n]*))[^,\r\n]*(,|\r?\n|\r|$)/gy
  const source = text.replace(/^\uFEFF/, '')
  while (pattern.lastIndex < source.length) {
    const [, quoted, plain = '', end] = pattern.exec(source) ?? []
    if (end === undefined) break
    row.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'))
    if (end === ',') {
      if (pattern.lastIndex === source.length) row.push('')
      else continue
    }
    if (row.length > 1 || row[0] !== '') rows.push(row)
    row = []
  }
  return rows
}
