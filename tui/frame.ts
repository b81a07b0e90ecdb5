import { styleText } from 'node:util'
import { textWidth } from '../cli/print/text-width.ts'
import { makePaint } from '../cli/print/view.ts'
import {
  escapeControls,
  formatMilliseconds,
  formatMoney,
  formatShare,
  formatValue,
  valueAt,
} from '../src/admin/contract/show-value.ts'
import { describeMissing } from '../src/core/degraded.ts'
import { clip, toAscii } from './clip.ts'
import { wrap } from './lines.ts'
import type { DrawArea, Hint, TextTheme } from './screen.ts'
import type { TuiSession } from './session.ts'
import { numberAt } from './status-watch.ts'

/** What this terminal can show. */
export interface TerminalStyle {
  colour: boolean
  unicode: boolean
  utc: boolean
}

export interface TerminalSize {
  columns: number
  rows: number
}

const least: TerminalSize = { columns: 40, rows: 10 }

/** Every line of the terminal, from the first to the last. */
export function drawFrame(session: TuiSession, { columns, rows }: TerminalSize, style: TerminalStyle): string[] {
  const theme = makeTheme(style, columns, session.now())
  const lines =
    columns < least.columns || rows < least.rows ? tooSmall({ columns, rows }) : draw(session, { columns, rows }, theme)
  const fitted = lines.slice(0, rows).map((line) => clip(line, columns))
  return style.unicode ? fitted : fitted.map(toAscii)
}

function makeTheme({ colour, utc }: TerminalStyle, width: number, now: number): TextTheme {
  return {
    width,
    colour,
    utc,
    now,
    paint: makePaint(colour),
    cursor: (character) => (colour ? styleText('inverse', character, { validateStream: false }) : `${character}▏`),
  }
}

function tooSmall({ columns, rows }: TerminalSize): string[] {
  return wrap(
    `The terminal is too small: ${columns}×${rows}. It must be at least ${least.columns}×${least.rows}.`,
    columns,
  )
}

function draw(session: TuiSession, { columns, rows }: TerminalSize, theme: TextTheme): string[] {
  const head = [
    drawHead(session, columns, theme),
    drawTabs(session, columns, theme),
    theme.paint('quiet', '─'.repeat(columns)),
  ]
  const missing = session.tabs[session.tab]?.title === 'Requests' ? describeMissing(degradedParts(session)) : null
  if (missing !== null) head.push(theme.paint('warning', missing))
  const trail = session.trail
  if (trail.length > 0) head.push(theme.paint('strong', trail.map(escapeControls).join(' › ')))
  const body = drawBody(session, { width: columns, height: rows - head.length - 1, theme })
  const filler = Array.from({ length: Math.max(0, rows - head.length - 1 - body.length) }, () => '')
  return [...head, ...body.slice(0, rows - head.length - 1), ...filler, drawFoot(session, columns, theme)]
}

/** `spgw  default/production   ● 12.4 req/s   0.2 % err   p95 1.8 s   $0.42/h            ? help` */
function drawHead(session: TuiSession, columns: number, theme: TextTheme): string {
  const { project, environment, all } = session.scope
  const scope = all ? 'all projects' : `${project}/${environment}`
  const left = [theme.paint('strong', 'spgw'), escapeControls(scope), ...drawLight(session, theme)]
  const right = theme.paint('quiet', '? help')
  const room = columns - textWidth(right) - 2
  // A narrow terminal has the first of them.
  while (left.length > 3 && textWidth(left.join('  ')) > room) left.pop()
  const line = clip(left.join('  '), room)
  return line + ' '.repeat(Math.max(2, columns - textWidth(line) - textWidth(right))) + right
}

function drawLight(session: TuiSession, theme: TextTheme): string[] {
  const { state } = session.link
  if (state.kind === 'connecting') return [theme.paint('quiet', '○ connecting')]
  if (state.kind === 'absent') return [theme.paint('bad', '○ not connected, retrying')]
  const { status } = session
  const parts = degradedParts(session)
  const degraded = parts.length === 0 ? [] : [theme.paint('warning', `▲ degraded: ${parts.join(', ')}`)]
  const light = parts.length === 0 ? theme.paint('good', '● ') : ''
  const traffic = valueAt(status, 'traffic')
  const perSecond = numberAt(traffic, 'requests_per_second')
  if (perSecond === null) return [...degraded, light]
  const [share, p95, usd] = ['error_share', 'duration_p95_ms', 'usd_per_hour'].map((name) => numberAt(traffic, name))
  return [
    ...degraded,
    `${light}${perSecond < 10 ? perSecond.toFixed(1) : formatValue(Math.round(perSecond), 'number', theme)} req/s`,
    theme.paint((share ?? 0) > 0.05 ? 'bad' : 'quiet', `${formatShare(share ?? 0)} err`),
    ...(p95 === null || p95 === undefined ? [] : [`p95 ${formatMilliseconds(p95)}`]),
    ...(usd === null || usd === undefined ? [] : [`${formatMoney(usd)}/h`]),
  ]
}

function degradedParts({ status }: TuiSession): string[] {
  const degraded = valueAt(status, 'degraded')
  return Array.isArray(degraded) ? degraded.map((part) => String(valueAt(part, 'part'))) : []
}

function drawTabs(session: TuiSession, columns: number, theme: TextTheme): string {
  const names = session.tabs.map(({ key, title }, position) => {
    const here = position === session.tab
    return here ? theme.paint('strong', `[${key} ${title}]`) : theme.paint('quiet', ` ${key} ${title} `)
  })
  const line = names.join(' ')
  if (textWidth(line) <= columns) return line
  return session.tabs
    .map(({ key, title }, position) =>
      position === session.tab ? theme.paint('strong', `[${key} ${title}]`) : theme.paint('quiet', key),
    )
    .join(' ')
}

function drawBody(session: TuiSession, area: DrawArea): string[] {
  const { state } = session.link
  if (state.kind === 'absent') {
    const { cause, hint } = state.report
    return [
      '',
      ...wrap(cause, area.width),
      ...wrap(hint, area.width),
      '',
      area.theme.paint('quiet', 'Retrying every second.'),
    ]
  }
  try {
    return session.screen.draw(area)
  } catch (error) {
    // An answer of another version may have another form: the rest stays of use.
    const said = error instanceof Error ? error.message : String(error)
    return [area.theme.paint('bad', 'Cannot show this.'), ...wrap(said, area.width).slice(0, 8)]
  }
}

function drawFoot(session: TuiSession, columns: number, theme: TextTheme): string {
  const { notice } = session
  if (notice !== null) return clip(theme.paint(notice.tone, escapeControls(notice.text)), columns)
  const own = session.screen.hints()
  const leaves = own.some(([key]) => key === 'esc') || session.trail.length === 0
  const back: Hint[] = leaves ? [] : [['esc', 'back']]
  const quit: Hint[] = session.screen.typing === true ? [] : [['q', 'quit']]
  const hints = [...own, ...back, ...quit].map(
    ([key, what]) => `${theme.paint('strong', key)} ${theme.paint('quiet', what)}`,
  )
  while (hints.length > 1 && textWidth(hints.join('  ')) > columns) hints.splice(-2, 1)
  return hints.join('  ')
}
