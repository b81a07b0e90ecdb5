import {
  type Compared,
  type ReplayDifference,
  type ReplayedEvent,
  replayedEvent,
} from '../../src/admin/contract/requests/request-replay.ts'
import { absent, escapeControls, formatValue } from '../../src/admin/contract/show-value.ts'
import type { GlobalOptions } from '../global-options.ts'
import type { Io } from '../io.ts'
import { renderTable } from './table.ts'
import { prepareWidths } from './text-width.ts'
import { stdoutView, type View } from './view.ts'

const columns = [
  { field: 'what', title: '' },
  { field: 'before', title: 'Before' },
  { field: 'now', title: 'Now' },
  { field: 'difference', title: 'Difference' },
] as const

/** Both requests beside one another when the second has ended, then their texts. Gives whether it was answered. */
export async function printReplay(
  open: (signal: AbortSignal) => Promise<AsyncIterable<unknown>>,
  settings: GlobalOptions,
  io: Io,
): Promise<boolean> {
  const stop = new AbortController()
  const release = io.onInterrupt(() => stop.abort())
  let ok = false
  try {
    for await (const raw of await open(stop.signal)) {
      const event = replayedEvent.parse(raw)
      if (event.kind === 'begin') ok = event.status >= 200 && event.status < 300
      if (event.kind === 'begin') await io.stderr.write(`Sent again as ${event.request_id}.\n`)
      if (event.kind === 'end' && event.error !== null) {
        ok = false
        await io.stderr.write(`The response was cut off: ${escapeControls(event.error)}\n`)
      }
      if (event.kind !== 'compared') continue
      await prepareWidths(event)
      await io.stdout.write(renderCompared(event, stdoutView(io, settings.utc)))
    }
  } catch (error) {
    // Aborting the call makes it fail on its way out: that is how it was asked to end.
    if (!stop.signal.aborted) throw error
  } finally {
    release()
  }
  return ok
}

type ComparedEvent = Extract<ReplayedEvent, { kind: 'compared' }>

function renderCompared({ before, after, difference }: ComparedEvent, view: View): string {
  const row = (what: string, show: (one: Compared) => string, more = '') => ({
    what,
    before: show(before),
    now: show(after),
    difference: more,
  })
  const duration = (value: number | null) => (value === null ? absent : formatValue(value, 'duration', view))
  const number = (value: number | null) => (value === null ? absent : formatValue(value, 'number', view))
  const money = (value: number | null) => (value === null ? absent : formatValue(value, 'money', view))
  const rows = [
    row('request', ({ request_id }) => request_id),
    row('status', ({ status }) => String(status ?? absent)),
    row('model', ({ model }) => model ?? absent),
    row('provider', ({ provider, upstream_model }) => [provider, upstream_model].filter(Boolean).join('/') || absent),
    row('first byte', ({ first_byte_ms }) => duration(first_byte_ms), signed(difference.first_byte_ms, duration)),
    row('time', ({ duration_ms }) => duration(duration_ms), signed(difference.duration_ms, duration)),
    row('tokens in', ({ input }) => number(input), signed(difference.input, number)),
    row('tokens out', ({ output }) => number(output), signed(difference.output, number)),
    row('cost', ({ cost_usd }) => money(cost_usd), signed(difference.cost_usd, money)),
  ]
  return `${renderTable(columns, rows, view)}\n${renderTexts(before.answer, after.answer, difference.answer, view)}`
}

/** With its sign; nothing where there is no difference. */
function signed(value: number | null, show: (value: number) => string): string {
  if (value === null || value === 0) return ''
  return `${value > 0 ? '+' : '-'}${show(Math.abs(value))}`
}

function renderTexts(before: string | null, now: string | null, parts: ReplayDifference['answer'], view: View): string {
  if (before === now) return `${view.paint('strong', 'Text, identical')}\n${printable(now)}`
  const texts = `${view.paint('strong', 'Text before')}\n${printable(before)}\n${view.paint('strong', 'Text now')}\n${printable(now)}`
  if (parts === null) return texts
  const marked = parts
    .map(({ kind, text }) => markPart(kind, text.split('\n').map(escapeControls).join('\n  '), view))
    .join('')
  return `${texts}\n${view.paint('strong', 'Difference: [-only before-] {+only now+}')}\n  ${marked}\n`
}

/** As `wdiff` writes it, so that it is told without colours, too. */
function markPart(kind: 'same' | 'removed' | 'added', text: string, view: View): string {
  if (kind === 'same') return text
  return kind === 'removed' ? view.paint('bad', `[-${text}-]`) : view.paint('good', `{+${text}+}`)
}

/** A model may answer anything: its lines are kept, escape sequences in them are shown, not obeyed. */
function printable(text: string | null): string {
  const lines = (text ?? 'not stored').split('\n').map((line) => `  ${escapeControls(line)}`.trimEnd())
  return `${lines.join('\n')}\n`
}
