import { aims } from './aims.ts'
import { figures } from './figures.ts'
import type { Results } from './results.ts'

type Row = string[]

/** The figures as a Markdown table, which a terminal shows well too: medians, and the ratios of the medians. */
export function renderFigures(results: Results): string {
  const { targets } = results
  const others = targets.filter((target) => target !== 'spgw')
  const head = ['figure', 'unit', ...targets, ...others.map((other) => `spgw ÷ ${other}`)]
  const rows = Object.entries(figures).map(([name, [title, unit, digits]]) => {
    const own = results.median('spgw', name)
    return [
      title,
      unit,
      ...targets.map((target) => show(results.median(target, name), digits)),
      ...others.map((other) => show(own / results.median(other, name), 2)),
    ]
  })
  return renderTable(
    head,
    rows.filter((row) => row.slice(2).some((cell) => cell !== '–')),
  )
}

export function renderAims(results: Results): string {
  const measured = aims.filter(({ value }) => !Number.isNaN(value(results)))
  const rows = measured.map(({ title, must, aim, unit, value }): Row => {
    const found = value(results)
    const digits = unit === '×' ? 3 : 0
    const verdict = found <= aim ? 'aim met' : found <= must ? 'must met' : 'MISSED'
    const shown = [found, must, aim].map((each) => `${show(each, digits)} ${unit}`.trim())
    return [title, ...shown, verdict]
  })
  const rest = aims.filter((each) => !measured.includes(each)).map(({ title }) => title)
  const table = renderTable(['target (at most)', 'measured', 'must', 'aim', 'verdict'], rows)
  return rest.length === 0 ? table : `${table}\n\nNot measured in this run: ${rest.join('; ')}.`
}

export function missesMust(results: Results): boolean {
  return aims.some(({ must, value }) => value(results) > must)
}

export function renderTable(head: Row, rows: Row[]): string {
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => row[column]?.length ?? 0)))
  const isNumber = head.map((_, column) => rows.every((row) => /^[\d–]/.test(row[column] ?? '')))
  const line = (row: Row) =>
    `| ${row.map((cell, column) => (isNumber[column] ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!))).join(' | ')} |`
  const rule = `|${widths.map((width, column) => (isNumber[column] ? `${'-'.repeat(width + 1)}:` : '-'.repeat(width + 2))).join('|')}|`
  return [line(head), rule, ...rows.map(line)].join('\n')
}

function show(value: number, digits: number): string {
  if (!Number.isFinite(value)) return '–'
  return value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits })
}
