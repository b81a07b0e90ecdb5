import { absent, escapeControls, type Format, formatValue, valueAt } from '../../src/admin/contract/show-value.ts'
import { clip, pad } from '../clip.ts'
import { wrap } from '../lines.ts'
import type { DrawArea, TextTheme } from '../screen.ts'

const clock = { now: 0, utc: false }

const rows: readonly { title: string; field: string; format: Format; figure?: true }[] = [
  { title: 'status', field: 'status', format: 'text' },
  { title: 'model', field: 'model', format: 'text' },
  { title: 'provider', field: 'provider', format: 'text' },
  { title: 'served as', field: 'upstream_model', format: 'text' },
  { title: 'first byte', field: 'first_byte_ms', format: 'duration', figure: true },
  { title: 'time', field: 'duration_ms', format: 'duration', figure: true },
  { title: 'tokens in', field: 'input', format: 'number', figure: true },
  { title: 'tokens out', field: 'output', format: 'number', figure: true },
  { title: 'cost', field: 'cost_usd', format: 'money', figure: true },
]

const titleWidth = 12

/** A request and its replay beside one another, what differs in figures, and how the first text became the second. */
export function drawCompared(event: unknown, { width, theme }: Pick<DrawArea, 'width' | 'theme'>): string[] {
  const column = Math.max(8, Math.floor((width - titleWidth) / 3) - 2)
  const lay = (cells: readonly string[]) => cells.map((cell) => pad(clip(cell, column), column)).join('  ')
  const head = `${' '.repeat(titleWidth)}${lay(['BEFORE', 'NOW', 'DIFFERENCE'])}`
  const lines = rows.map(({ title, field, format, figure }) => {
    const cells = ['before', 'after'].map((which) => shown(valueAt(event, `${which}.${field}`), format))
    const more = figure ? signed(valueAt(event, `difference.${field}`), format) : ''
    return `${pad(title, titleWidth)}${lay([...cells, more])}`.trimEnd()
  })
  const words = wrap(escapeControls(String(valueAt(event, 'text') ?? '')), width)
  return [...words, '', theme.paint('quiet', head.trimEnd()), ...lines, '', ...drawTexts(event, width, theme)]
}

function shown(value: unknown, format: Format): string {
  return value === null || value === undefined ? absent : escapeControls(formatValue(value, format, clock))
}

/** With its sign; nothing where there is no difference. */
function signed(value: unknown, format: Format): string {
  if (typeof value !== 'number' || value === 0) return ''
  return `${value > 0 ? '+' : '-'}${formatValue(Math.abs(value), format, clock)}`
}

function drawTexts(event: unknown, width: number, theme: TextTheme): string[] {
  const before = valueAt(event, 'before.answer')
  const after = valueAt(event, 'after.answer')
  if (before !== null && before === after) return [theme.paint('strong', 'Text, identical'), ...textLines(after, width)]
  const parts = valueAt(event, 'difference.answer')
  const both = [
    theme.paint('strong', 'Text before'),
    ...textLines(before, width),
    '',
    theme.paint('strong', 'Text now'),
    ...textLines(after, width),
  ]
  if (!Array.isArray(parts)) return both
  const marked = parts.map(markPart).join('')
  return [...both, '', theme.paint('strong', 'Difference: [-only before-] {+only now+}'), ...textLines(marked, width)]
}

/** Told without colours, too, as `wdiff` writes it. */
function markPart(part: unknown): string {
  const text = String(valueAt(part, 'text'))
  const kind = valueAt(part, 'kind')
  if (kind === 'same') return text
  return kind === 'removed' ? `[-${text}-]` : `{+${text}+}`
}

function textLines(text: unknown, width: number): string[] {
  if (typeof text !== 'string') return ['not stored']
  return text.split('\n').flatMap((line) => wrap(escapeControls(line), width))
}
