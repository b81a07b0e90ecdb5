import { aims, evaluate } from './aims.ts'
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
  const rows = aims.flatMap((each): Row[] => {
    const { title, must, aim, unit, atLeast, value } = each
    const verdict = evaluate(each, results)
    if (verdict === null) return []
    const digits = unit === '×' ? 2 : 0
    const limits = [must, aim].map((limit) =>
      `${atLeast ? '≥' : '≤'} ${show(limit, unit === '×' ? 1 : 0)} ${unit}`.trim(),
    )
    return [[title, `${show(value(results), digits)} ${unit}`.trim(), ...limits, verdict]]
  })
  const rest = aims.filter((each) => evaluate(each, results) === null).map(({ title }) => title)
  const table = renderTable(['target', 'measured', 'must', 'aim', 'verdict'], rows)
  if (rest.length === 0) return table
  const missing = `Not measured: ${rest.join('; ')}.`
  return rows.length === 0 ? missing : `${table}\n\n${missing}`
}

export function missesMust(results: Results): boolean {
  return aims.some((each) => evaluate(each, results) === 'MISSED')
}

export function renderTable(head: Row, rows: Row[]): string {
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => row[column]?.length ?? 0)))
  const isNumber = head.map((_, column) => rows.every((row) => /^[\d–≤≥]/.test(row[column] ?? '')))
  const line = (row: Row) =>
    `| ${row.map((cell, column) => (isNumber[column] ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!))).join(' | ')} |`
  const rule = `|${widths.map((width, column) => (isNumber[column] ? `${'-'.repeat(width + 1)}:` : '-'.repeat(width + 2))).join('|')}|`
  return [line(head), rule, ...rows.map(line)].join('\n')
}

function show(value: number, digits: number): string {
  if (!Number.isFinite(value)) return '–'
  return value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits })
}
