import { describe, expect, it } from 'vitest'
import { matches, RowFilter } from '../../tui/filter.ts'
import { drawSteps } from '../../tui/first-steps.ts'
import type { KeyPress } from '../../tui/keys.ts'
import { Pager } from '../../tui/pager.ts'
import type { TextTheme } from '../../tui/screen.ts'

const theme = { paint: (_tone: string, text: string) => text, cursor: (text: string) => `[${text}]` } as TextTheme
const key = (name: string): KeyPress => ({ name, text: name.length === 1 ? name : '' })

describe('lines that are longer than the screen', () => {
  const lines = Array.from({ length: 10 }, (_, number) => `line ${number}`)
  const open = (given = lines, height = 4) => {
    const pager = new Pager()
    const draw = (now = given) => pager.draw(now, { width: 80, height, theme } as Parameters<Pager['draw']>[1])
    draw()
    return { draw, press: (...names: string[]) => names.map((name) => pager.press(key(name))), pager }
  }

  it('say how many are above and below, and are not left at either end', () => {
    const { draw, press } = open()
    expect(draw()).toEqual(['line 0', 'line 1', 'line 2', '7 more'])
    press('up')
    expect(draw()[0]).toBe('line 0')
    press('G')
    expect(draw()).toEqual(['line 7', 'line 8', 'line 9', '7 above'])
    press('down', 'pagedown')
    expect(draw()[0]).toBe('line 7')
    press('pageup')
    expect(draw()).toEqual(['line 5', 'line 6', 'line 7', '5 above · 2 more'])
  })

  it('stay on the screen when there are fewer of them', () => {
    const { draw, press } = open()
    press('end')
    draw()
    expect(draw(lines.slice(0, 6))).toEqual(['line 3', 'line 4', 'line 5', '3 above'])
    expect(draw(lines.slice(0, 4))).toEqual(lines.slice(0, 4))
  })

  it.each([
    ['up', 3],
    ['k', 3],
    ['down', 5],
    ['j', 5],
    ['pageup', 2],
    ['ctrl-u', 2],
    ['pagedown', 6],
    ['ctrl-d', 6],
    [' ', 6],
    ['home', 0],
    ['g', 0],
    ['end', 17],
    ['G', 17],
  ])('go with %j from line 4 to line %i of twenty, of which three are seen', (name, first) => {
    const twenty = Array.from({ length: 20 }, (_, number) => `line ${number}`)
    const { draw, press, pager } = open(twenty)
    press('down', 'down', 'down', 'down', name)
    expect(draw()[0]).toBe(`line ${first}`)
    press('end', 'down', 'down', 'up')
    expect(draw()[0]).toBe('line 16')
    pager.toTop()
    expect(draw()[0]).toBe('line 0')
  })

  it('leave other keys to the screen', () => {
    expect(open().press('x', 'enter', 'j')).toEqual([false, false, true])
  })
})

describe('the filter of rows', () => {
  const type = (filter: RowFilter, ...names: string[]) => names.map((name) => filter.press(key(name)))

  it('takes keys only while it is typed in, and is forgotten by escape', () => {
    const filter = new RowFilter()
    expect(type(filter, 'x', 'escape')).toEqual([false, false])
    expect(type(filter, '/', 'G', 'p', 'enter')).toEqual([true, true, true, true])
    expect([filter.given, filter.text, filter.typing]).toEqual(['Gp', 'gp', false])
    expect(type(filter, 'x')).toEqual([false])
    expect(type(filter, 'escape', 'escape')).toEqual([true, false])
    expect([filter.text, filter.draw(1, 2, theme)]).toEqual(['', []])
  })

  it('keeps its text when an arrow moves in the rows', () => {
    const filter = new RowFilter()
    expect(type(filter, '/', 'a', 'down')).toEqual([true, true, false])
    expect([filter.text, filter.typing, filter.draw(1, 3, theme)]).toEqual(['a', false, ['/ a  1 of 3']])
  })

  it('finds any value of a row, within lists and objects too, and no name of a field', () => {
    const row = { name: 'Prod', targets: [{ provider: 'azure', weight: 3 }], note: null, enabled: false }
    expect(['prod', 'azure', '3', 'false', ''].map((text) => matches(row, text))).toEqual(Array(5).fill(true))
    expect(['weight', 'null', 'production'].map((text) => matches(row, text))).toEqual(Array(3).fill(false))
  })
})

describe('the first steps', () => {
  const status = { gateway_url: 'http://gw\u001b[2J', providers: { failing: 1 }, routes: 0, keys: 2 }

  it('name the next one that is missing, and not one that was skipped to', () => {
    const lines = drawSteps(status, false, theme)
    expect(lines.map((line) => line.trim().slice(0, 1))).toEqual(['G', '✓', '▸', '✓', '○'])
    expect(lines[2]).toContain('Add a route to it   3, then a')
    expect(lines.join('')).not.toContain('\u001b')
  })

  it('are over with the first request, whatever was removed since', () => {
    expect([drawSteps(status, true, theme), drawSteps({}, true, theme)]).toEqual([[], []])
    expect(drawSteps(undefined, false, theme)[1]).toContain('▸')
  })
})
