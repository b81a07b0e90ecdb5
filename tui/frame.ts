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
import { errorText } from '../src/core/caught.ts'
import { describeMissing } from '../src/core/degraded.ts'
import { clip, toAscii } from './clip.ts'
import { wrap } from './lines.ts'
import { describeScope } from './scope.ts'
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

/** Of an error at the foot. */
const mostNoticeLines = 3

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
  const foot = drawFoot(session, columns, theme)
  const height = rows - head.length - foot.length
  const body = drawBody(session, { width: columns, height, theme }).slice(0, height)
  return [...head, ...body, ...Array.from({ length: height - body.length }, () => ''), ...foot]
}

/** `spgw  default/production   ● 12.4 req/s   0.2 % err   p95 1.8 s   $0.42/h            ? help` */
function drawHead(session: TuiSession, columns: number, theme: TextTheme): string {
  const { scope } = session
  // The figures of this line are always the whole gateway's.
  const whose = scope.project === null ? [] : [theme.paint('quiet', 'gateway:')]
  const left = [
    theme.paint('strong', 'spgw'),
    escapeControls(describeScope(scope)),
    [...whose, ...drawLight(session, theme).slice(0, 1)].join(' '),
    ...drawLight(session, theme).slice(1),
  ]
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
  const names = parts.map(({ part }) => part).join(', ')
  const degraded = parts.length === 0 ? [] : [theme.paint('warning', `▲ degraded: ${names}`)]
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

function degradedParts({ status }: TuiSession): { part: string; since: string }[] {
  const degraded = valueAt(status, 'degraded')
  return Array.isArray(degraded)
    ? degraded.map((each) => ({ part: String(valueAt(each, 'part')), since: String(valueAt(each, 'since')) }))
    : []
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
  if (state.kind !== 'absent') return drawScreen(session, area)
  const { width, height, theme } = area
  const { cause, hint } = state.report
  const said = [...wrap(cause, width), ...wrap(hint, width)].map((line) => theme.paint('bad', line))
  const notice = [...said, theme.paint('quiet', 'Retrying every second.'), '']
  if (session.status === undefined) return ['', ...notice]
  // What was read before stays in sight, below a word that it is old.
  const room = height - notice.length
  return room < 5 ? notice : [...notice, ...drawScreen(session, { ...area, height: room })]
}

function drawScreen(session: TuiSession, area: DrawArea): string[] {
  try {
    return session.screen.draw(area)
  } catch (error) {
    // An answer of another version may have another form: the rest stays of use.
    const said = errorText(error)
    return [area.theme.paint('bad', 'Cannot show this.'), ...wrap(said, area.width).slice(0, 8)]
  }
}

/** What was said last may need more than a line: an error's last words say what to do. */
function drawFoot(session: TuiSession, columns: number, theme: TextTheme): string[] {
  if (session.commandLine.isOpen) return [session.commandLine.draw(columns, theme)]
  const { notice } = session
  if (notice === null) return [drawHints(session, columns, theme)]
  const lines = wrap(notice.text, columns).slice(0, mostNoticeLines)
  return lines.map((line) => theme.paint(notice.tone, line))
}

function drawHints(session: TuiSession, columns: number, theme: TextTheme): string {
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
