import { askLimits } from '../../cli/print/limits.ts'
import { alignText } from '../../cli/print/table.ts'
import { textWidth } from '../../cli/print/text-width.ts'
import { describeOpen, hoursRows, nameHours, type ShownHours } from '../../src/admin/contract/show-hours.ts'
import {
  formatAmount,
  formatUsed,
  type LimitUsage,
  limitRows,
  nameLimit,
  nameScope,
} from '../../src/admin/contract/show-limit.ts'
import { escapeControls, formatValue } from '../../src/admin/contract/show-value.ts'
import { flow } from '../lines.ts'
import { remainingLines } from '../result-lines.ts'
import type { TextTheme } from '../screen.ts'
import { type RecordPage, section, textAt } from './page.ts'

const barWidth = 20

/** A key, a policy or a project: its fields, and what is used of its limits. */
export function limitedPage(operation: string): RecordPage {
  return {
    questions: (thing) => {
      const question = askLimits(operation, thing)
      return question === null ? [] : [{ operation: question.path.join('.'), input: question.input }]
    },
    draw(thing, answers, { width, theme }) {
      const rows = [...answers.values()].flatMap((answer) => limitRows(answer))
      const hours = [...answers.values()].flatMap((answer) => hoursRows(answer))
      return [
        theme.paint('strong', escapeControls(textAt(thing, 'name') ?? '')),
        ...remainingLines(thing, ['name'], { ...theme, width }),
        ...section('Limits', drawLimits(rows, width - 2, theme), theme),
        ...section('Allowed hours', drawHours(hours, width - 2, theme), theme),
      ]
    },
  }
}

/** Whether each is open and until when, and below it which hours, by which policy. */
function drawHours(rows: readonly ShownHours[], width: number, theme: TextTheme): string[] {
  return rows.flatMap((row) => {
    const state = describeOpen(row, (time) => formatValue(time, 'age', theme))
    const notes = [nameHours(row), `policy ${row.policy}`].map((word) => theme.paint('quiet', escapeControls(word)))
    return [
      ...flow([theme.paint(row.open ? 'good' : 'bad', state)], width),
      ...flow(notes, width - 2).map((line) => `  ${line}`),
    ]
  })
}

/** A bar each with its figures, and below it where it applies, by which policy, and when it resets. */
export function drawLimits(rows: readonly LimitUsage[], width: number, theme: TextTheme): string[] {
  const titles = rows.map((row) => nameLimit(row))
  const widest = Math.max(0, ...titles.map((title) => textWidth(title)))
  return rows.flatMap((row, index) => {
    const title = alignText(titles[index] ?? '', widest, false)
    const held = row.held ?? 0
    const figures =
      row.used === null
        ? [`${formatAmount(row, row.limit)} for each end user`]
        : [
            drawBar(row, Math.min(barWidth, Math.max(4, width - widest - 24)), theme),
            `${formatUsed(row)} of ${formatAmount(row, row.limit)}`,
            ...(held > 0 ? [theme.paint('quiet', `${formatAmount(row, held)} held`)] : []),
          ]
    return [...flow([title, ...figures], width), ...flow(noteOf(row, theme), width - 2).map((line) => `  ${line}`)]
  })
}

function noteOf(row: LimitUsage, theme: TextTheme): string[] {
  const resetsAt = textAt(row, 'resets_at')
  // A minute's limit resets only after something was used; a budget's day or month ends anyway.
  const isRunning = row.used !== 0 || (row.period ?? null) !== null
  const resets = resetsAt === null || !isRunning ? [] : [`resets ${formatValue(resetsAt, 'age', theme)}`]
  const policy = textAt(row, 'policy')
  const words = [nameScope(row.scope), ...(policy === null ? [] : [`policy ${policy}`]), ...resets]
  return words.map((word) => theme.paint('quiet', escapeControls(word)))
}

/** Used, held, and left. */
function drawBar({ used, held, limit }: LimitUsage, width: number, theme: TextTheme): string {
  const share = (amount: number) => (limit === 0 ? 1 : Math.min(1, amount / limit))
  const whole = share((used ?? 0) + (held ?? 0))
  const tone = whole >= 1 ? 'bad' : whole >= 0.8 ? 'warning' : 'good'
  const full = Math.min(width, Math.round(share(used ?? 0) * width) || ((used ?? 0) > 0 ? 1 : 0))
  const both = Math.max(full, Math.round(whole * width))
  const bar = '█'.repeat(full) + '▒'.repeat(both - full)
  return theme.paint(tone, bar) + theme.paint('quiet', '·'.repeat(width - both))
}
