import fc from 'fast-check'
import stringWidth from 'string-width'
import { afterEach, describe, expect, it } from 'vitest'
import { prepareWidths } from '../../cli/print/text-width.ts'
import { makePaint } from '../../cli/print/view.ts'
import type { Column } from '../../src/admin/contract/operation.ts'
import { listOperations } from '../../src/admin/contract/operations.ts'
import { TableLayout } from '../../tui/table-layout.ts'
import { sampleRecord } from '../support/sample-record.ts'
import { type Answers, type Driven, drive, provider, streamOf } from './drive.ts'

await prepareWidths('漢')

const themeOf = (colour: boolean) => ({
  width: 80,
  colour,
  utc: false,
  now: Date.parse('2026-11-21T12:00:00Z'),
  paint: makePaint(colour),
  cursor: (character: string) => character,
})
const plain = themeOf(false)
const coloured = themeOf(true)

/** A column takes no more, however long its cells are. */
const widestColumn = 60

/** Letters of one cell, of two, of none, and of several code points; and what would move the cursor. */
const letter = fc.constantFrom(
  'a',
  'Z',
  '-',
  'é',
  '漢',
  '界',
  'ﬀ',
  '👩‍👩‍👧‍👦',
  '🇪🇺',
  'e\u0301',
  '\u001b[31m',
  '\n',
  '\t',
)
const cell = fc.array(letter, { maxLength: 40 }).map((letters) => letters.join(''))
const formats = ['text', 'number', 'state', 'list', 'id', 'age', 'bytes', 'duration', 'money', 'rate', 'share'] as const
const column = fc.record({ title: fc.stringMatching(/^[A-Z ]{0,20}$/), format: fc.constantFrom(...formats) })
const columns = fc
  .array(column, { minLength: 1, maxLength: 12 })
  .map((all): Column[] => all.map((one, index) => ({ ...one, field: `f${index}` })))
const value = fc.oneof(cell, fc.integer(), fc.constant(null), fc.boolean(), fc.array(cell, { maxLength: 3 }))
const row = fc
  .array(value, { maxLength: 12 })
  .map((all) => Object.fromEntries(all.map((one, index) => [`f${index}`, one])))
const rows = fc.array(row, { maxLength: 8 })

describe('a table', () => {
  it('has a head and rows of one width, wide characters and colours or not', () => {
    fc.assert(
      fc.property(columns, rows, fc.integer({ min: 1, max: 160 }), (all, some, width) => {
        for (const theme of [plain, coloured]) {
          const layout = new TableLayout(all)
          layout.measure(some, theme)
          const lines = [layout.head(width, theme), ...some.map((one) => layout.row(one, width, theme))]
          // The first column always stays; where not even that fits, the screen clips its lines.
          const least = all.length === 0 ? 0 : widestColumn
          for (const line of lines) expect(stringWidth(line)).toBeLessThanOrEqual(Math.max(width, least))
        }
      }),
    )
  })

  it('never moves the cursor, whatever a row holds', () => {
    fc.assert(
      fc.property(columns, rows, (all, some) => {
        const layout = new TableLayout(all)
        layout.measure(some, plain)
        for (const one of some) expect(layout.row(one, 120, plain)).not.toMatch(/\p{Cc}/u)
      }),
    )
  })

  it('keeps its columns where they are while rows come and go', () => {
    fc.assert(
      fc.property(columns, rows, rows, (all, some, others) => {
        const layout = new TableLayout(all)
        layout.measure(some, plain)
        const before = layout.head(10_000, plain).length
        layout.measure(others, plain)
        expect(layout.head(10_000, plain).length).toBeGreaterThanOrEqual(before)
      }),
    )
  })

  it('has the points of amounts under one another, and keeps their room', () => {
    const layout = new TableLayout([{ field: 'usd', title: 'COST', format: 'money' }])
    layout.measure([{ usd: 12.5 }, { usd: 0.0003 }], plain)
    expect([12.5, 0.0003].map((usd) => layout.row({ usd }, 40, plain).indexOf('.'))).toEqual([3, 3])
    layout.measure([{ usd: 12.5 }], plain)
    expect(layout.row({ usd: 12.5 }, 40, plain)).toBe('$12.50')
    expect(layout.head(40, plain)).toBe('    COST')
  })

  it('shows an optional column where a row has it', () => {
    const layout = new TableLayout([
      { field: 'name', title: 'NAME' },
      { field: 'rpm', title: 'RPM', format: 'number', optional: true },
    ])
    layout.measure([{ name: 'a', rpm: null }], plain)
    expect(layout.head(40, plain)).toBe('NAME')
    layout.measure(
      [
        { name: 'a', rpm: null },
        { name: 'b', rpm: 60 },
      ],
      plain,
    )
    expect(layout.head(40, plain)).toContain('RPM')
  })

  it('drops whole columns before it cuts a number, and keeps an id whole', () => {
    const layout = new TableLayout([
      { field: 'name', title: 'NAME' },
      { field: 'count', title: 'COUNT', format: 'number' },
      { field: 'id', title: 'ID', format: 'id' },
    ])
    const one = {
      name: 'a-long-name-of-some-forty-characters-or-so',
      count: 1_234_567,
      id: 'req_01jd3k4m5n6p7q8r9s0t1v2w3x',
    }
    layout.measure([one], plain)
    expect(layout.row(one, 60, plain)).toMatch(/^a-long-.*… +1,234,567 +req_01jd3k4m5n6p7q8r9s0t1v2w3x$/)
    expect(layout.row(one, 46, plain)).toMatch(/^a-long-.*… +req_01jd3k4m5n6p7q8r9s0t1v2w3x$/)
    expect(layout.row(one, 20, plain)).toMatch(/^a-long-.*…$/)
  })
})

let driven: Driven
afterEach(() => driven?.stop())

const sizes = [
  [40, 10],
  [41, 11],
  [60, 14],
  [80, 24],
  [119, 30],
  [120, 30],
  [200, 50],
] as const

/** Every line fits, there are no more of them than rows, and the last one is the line of hints. */
function checkFrames(wanted: string | null = null): void {
  for (const [width, height] of sizes) {
    for (const style of [{}, { colour: true }, { unicode: false }]) {
      const lines = driven.text(width, height, style).split('\n')
      expect(lines, `${width}×${height}`).toHaveLength(height)
      for (const line of lines) expect(stringWidth(line), `${width}×${height}: ${line}`).toBeLessThanOrEqual(width)
      if (wanted !== null) expect(lines.join('\n')).toContain(wanted)
    }
  }
}

const wide = {
  ...provider,
  id: 'prv_2',
  name: '東京の提供者',
  state: 'failing',
  state_reason: '鍵が拒否されました'.repeat(9),
}
const full: Answers = {
  status: {
    version: '0.1.0',
    started_at: '2026-11-21T11:00:00Z',
    gateway_url: 'http://127.0.0.1:8787',
    console_url: null,
    data_directory: `/var/lib/${'deep/'.repeat(40)}`,
    degraded: [
      { part: 'store', reason: 'another process holds the database '.repeat(5), since: '2026-11-21T11:59:00Z' },
    ],
    providers: { ready: 1, failing: 1, unchecked: 0, inactive: 0 },
    routes: 2,
    keys: 1,
    set_aside: [],
    entries_lost: 0,
    long_turns: [],
  },
  'providers.list': [provider, wide],
  'providers.show': wide,
  'requests.list': Array.from({ length: 200 }, (_, index) =>
    sampleRecord({ model: `${'模型'.repeat(index % 30)}-${index}` }),
  ),
  'requests.tail': () => streamOf([]),
}

describe('at every size', () => {
  it.each([
    ['the overview', ['1']],
    ['a list', ['2']],
    ['a record', ['2', 'enter']],
    ['a record with all the room', ['2', 'enter', 'enter']],
    ['a form', ['2', 'a']],
    ['a form of what is there', ['2', 'e']],
    ['a question', ['2', 'x']],
    ['a menu', ['2', 'm']],
    ['a filter', ['2', '/', '=東京']],
    ['requests', ['5']],
    ['one request', ['5', 'enter']],
    ['filters of requests', ['5', 'f']],
    ['other nouns', ['6']],
    ['help', ['?']],
    ['projects and environments', ['s']],
  ])('%s fits', async (_what, keys) => {
    driven = drive(full)
    for (const key of keys) await driven.press(key)
    await driven.press()
    checkFrames()
  })

  it('a press works the same after the terminal has become another size', async () => {
    driven = drive(full)
    await driven.press('5')
    await driven.see('模型-1 ')
    driven.text(200, 60)
    await driven.press('G')
    for (const [width, height] of [
      [80, 24],
      [40, 10],
      [160, 50],
      [80, 12],
    ] as const) {
      const shown = driven.text(width, height)
      expect(shown.split('\n').filter((line) => line.startsWith('▸ '))).toHaveLength(1)
    }
    await driven.press('g')
    expect(driven.text(80, 24)).toMatch(/▸ .*/)
  })

  it('a question stays in sight below whatever there is to read', async () => {
    driven = drive({
      ...full,
      diff: {
        owner: 'team',
        changes: Array.from({ length: 300 }, (_, index) => ({
          action: 'remove',
          kind: 'route',
          name: `model-${index}`,
          project: 'default',
          environment: null,
          fields: [],
        })),
        problems: [],
        unset: [],
        notes: [],
        adopted: 0,
        released: 0,
        expect: {},
      },
    })
    await driven.press('6', 'enter')
    while (!/▸ apply/.test(driven.text())) await driven.press('down')
    await driven.press('enter', '=gateway.yaml', 'ctrl-s')
    const shown = await driven.see('Type team to confirm:')
    expect(shown).toContain('model-0')
    expect(shown).not.toContain('model-299')
    for (const [width, height] of sizes) expect(driven.text(width, height)).toContain('Type team to confirm:')
    expect(driven.text(80, 24)).toMatch(/\d+ more/)
    for (let page = 0; page < 40; page++) await driven.press('pagedown')
    expect(driven.text()).toContain('model-299')
    await driven.press('=other', 'enter')
    expect(driven.text(40, 10)).toContain('That does not match team.')
  })

  it('is said to be too small below the least', () => {
    driven = drive(full)
    for (const [width, height] of [
      [39, 40],
      [80, 9],
      [1, 1],
      [12, 3],
    ] as const) {
      const lines = driven.text(width, height).split('\n')
      expect(lines.length).toBeLessThanOrEqual(height)
      for (const line of lines) expect(stringWidth(line)).toBeLessThanOrEqual(width)
    }
    expect(driven.text(39, 40).replace(/\s+/g, ' ')).toContain('too small: 39×40. It must be at least 40×10.')
  })
})

describe('requests', () => {
  const operation = listOperations().find(({ name }) => name === 'requests.list')
  const all = operation?.meta.show.as === 'table' ? operation.meta.show.columns.slice(0, -1) : []
  const record = (change: object) => sampleRecord({ time: '2026-11-21T11:59:57Z', ...change })
  const headOf = (width: number, records: readonly unknown[]) => {
    const layout = new TableLayout(all)
    layout.measure(records, plain)
    return { layout, head: layout.head(width, plain) }
  }
  const failed = record({
    status: 503,
    model: 'gpt-4o-mini-2026',
    error: { code: 'provider_not_ready', origin: 'gateway', message: 'No.' },
  })

  it.each([120, 100, 80, 70, 60, 50])('at %i cells have no first byte without the total', (width) => {
    const { head } = headOf(width, [failed, record({})])
    if (head.includes('FIRST BYTE')) expect(head).toContain('TOTAL')
  })

  it('keep the total where there is no room for the first byte, and tell errors apart', () => {
    const { layout, head } = headOf(78, [failed, record({})])
    expect(head).toContain('TOTAL')
    expect(head).not.toContain('FIRST BYTE')
    expect(layout.row(failed, 78, plain)).toContain('503 provider_not_ready')
  })

  it('keep their columns in place while ages and durations grow', () => {
    const { layout, head } = headOf(118, [record({ time: '2026-11-21T12:00:00Z', duration_ms: 1, first_byte_ms: 1 })])
    layout.measure([record({ time: '2026-11-21T11:01:00Z', duration_ms: 59_900, first_byte_ms: 2000 })], plain)
    expect(layout.head(118, plain)).toBe(head)
  })
})

describe('every table of the contract', () => {
  const tables = listOperations().flatMap(({ name, meta: { show } }) =>
    show.as === 'table' || show.as === 'live' ? [{ name, columns: show.columns }] : [],
  )

  it.each(tables)('$name keeps at least two columns at 80 cells', ({ columns: all }) => {
    const layout = new TableLayout(all)
    expect(layout.head(78, plain).split(/ {2,}/).length).toBeGreaterThanOrEqual(Math.min(2, all.length))
  })
})
