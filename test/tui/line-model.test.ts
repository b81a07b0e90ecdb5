import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { prepareWidths } from '../../cli/print/text-width.ts'
import { matches, RowFilter } from '../../tui/filter.ts'
import type { KeyPress } from '../../tui/keys.ts'
import { type EditedLine, editLine, insert, lineOf, windowOf } from '../../tui/line-editor.ts'
import type { TextTheme } from '../../tui/screen.ts'
import { moveSelection, stepOf } from '../../tui/selection.ts'

const press = (name: string): KeyPress => ({ name, text: name.length === 1 ? name : '' })
const charactersOf = (text: string) => [...new Intl.Segmenter().segment(text)].map(({ segment }) => segment)
const names = ['left', 'right', 'home', 'end', 'ctrl-a', 'ctrl-e', 'backspace', 'delete', 'ctrl-u', 'ctrl-k', 'ctrl-w']
const plain = fc.constantFrom(...names, 'a', 'b', ' ', '漢')

/** The same on a list of letters, as anybody would write it down. */
function model({ letters, at }: { letters: string[]; at: number }, name: string): { letters: string[]; at: number } {
  const [before, after] = [letters.slice(0, at), letters.slice(at)]
  const of = (left: string[], right: string[]) => ({ letters: [...left, ...right], at: left.length })
  if (name === 'left') return { letters, at: Math.max(0, at - 1) }
  if (name === 'right') return { letters, at: Math.min(letters.length, at + 1) }
  if (name === 'home' || name === 'ctrl-a') return { letters, at: 0 }
  if (name === 'end' || name === 'ctrl-e') return { letters, at: letters.length }
  if (name === 'backspace') return of(before.slice(0, -1), after)
  if (name === 'delete') return of(before, after.slice(1))
  if (name === 'ctrl-u') return of([], after)
  if (name === 'ctrl-k') return of(before, [])
  if (name === 'ctrl-w') return of(charactersOf(before.join('').replace(/[^ ]* *$/, '')), after)
  return of([...before, name], after)
}

describe('a line that is written', () => {
  it.each([
    ['abcdef', 6, 10, 'abcdef| |'],
    ['abcdef', 2, 10, 'ab|c|def'],
    ['abcdef', 6, 4, 'def| |'],
    ['abcdef', 4, 4, 'bcd|e|'],
    ['abcdef', 0, 4, '|a|bcd'],
    ['ab漢字cd', 4, 4, '字|c|d'],
    ['ab漢字cd', 3, 4, '漢|字|'],
    ['a漢', 0, 2, '|a|'],
    ['', 0, 4, '| |'],
  ])('is seen around its cursor: %s at %i in %i cells', async (text, cursor, width, seen) => {
    await prepareWidths(text)
    const { before, under, after } = windowOf({ text, cursor }, width)
    expect(`${before}|${under}|${after}`).toBe(seen)
  })

  it('is what the keys make of it, one after the other', () => {
    fc.assert(
      fc.property(fc.array(plain, { maxLength: 60 }), (keys) => {
        let line: EditedLine = lineOf('')
        let wanted: { letters: string[]; at: number } = { letters: [], at: 0 }
        for (const key of keys) {
          line = editLine(line, press(key)) ?? line
          wanted = model(wanted, key)
          expect(line).toEqual({ text: wanted.letters.join(''), cursor: wanted.at })
        }
      }),
      { numRuns: 200 },
    )
  })

  it('has its cursor within, also where characters become one', () => {
    const parts = ['🇦', '🇧', '👩', '\u200d', 'e', '\u0301', 'x', ' ']
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...names, ...parts), { maxLength: 40 }), (keys) => {
        let line = lineOf('')
        for (const key of keys) {
          line = editLine(line, { name: key, text: parts.includes(key) ? key : '' }) ?? line
          expect(line.cursor).toBeGreaterThanOrEqual(0)
          expect(line.cursor).toBeLessThanOrEqual(charactersOf(line.text).length)
        }
      }),
      { numRuns: 200 },
    )
  })

  it.each([
    ['one\r\ntwo\tthree', 'one two three'],
    ['\u001b[31mred', '[31mred'],
    ['\u0000\u007f', ''],
    ['\n\n', ' '],
  ])('takes of what is pasted, %j, only what a line can hold', (given, text) => {
    expect(insert(lineOf(''), given).text).toBe(text)
  })
})

describe('the filter of a list', () => {
  const type = (filter: RowFilter, ...keys: string[]) => keys.map((key) => filter.press(press(key)))

  it('begins with a slash, ends with Enter, and goes with Escape, from either', () => {
    const filter = new RowFilter()
    expect(type(filter, 'a', 'escape')).toEqual([false, false])
    expect(type(filter, '/', 'G', 'p', 'enter', 'x')).toEqual([true, true, true, true, false])
    expect([filter.given, filter.text, filter.typing]).toEqual(['Gp', 'gp', false])
    expect(type(filter, '/', 't', 'escape')).toEqual([true, true, true])
    expect([filter.given, filter.typing]).toEqual(['', false])
    type(filter, '/', 'a', 'enter')
    expect(type(filter, 'escape', 'escape')).toEqual([true, false])
    expect(filter.text).toBe('')
  })

  it('is drawn with its cursor while it is written, and found without the blanks around it', () => {
    const theme = { paint: (_: string, text: string) => text, cursor: (text: string) => `[${text}]` } as TextTheme
    const filter = new RowFilter()
    type(filter, '/', ' ', 'a', 'b', ' ', 'left', 'left')
    expect(filter.draw(2, 30, theme)).toEqual(['/  a[b]   2 of 30'])
    expect([filter.given, filter.text]).toEqual(['ab', 'ab'])
    type(filter, 'enter')
    filter.paste('c\n')
    expect(filter.draw(1, 2007, theme)).toEqual(['/  ac b   1 of 2,007'])
  })

  it('looks for a whole key by its end', () => {
    const filter = new RowFilter()
    filter.paste('sp_live_BFAg5spYwwSHVCsIVUhAkCGWu8IcHGgb8Gg6ZjmrCPH1Je7fJ')
    expect([{ last_four: 'e7fJ' }, { last_four: 'a1b2' }].map((row) => matches(row, filter.text))).toEqual([
      true,
      false,
    ])
  })

  it('leaves arrows and other keys to the list, with the text kept', () => {
    const filter = new RowFilter()
    type(filter, '/', 'a')
    expect(type(filter, 'down')).toEqual([false])
    expect([filter.text, filter.typing]).toEqual(['a', false])
  })

  it.each([
    [{ name: 'GPT-4o' }, 'gpt', true],
    [{ tags: [{ team: 'Search' }] }, 'sear', true],
    [{ count: 4000, on: false }, '400', true],
    [{ count: 4000, on: false }, 'fal', true],
    [{ name: null }, 'null', false],
    [undefined, 'undefined', false],
    [null, '', true],
    // By what is in it, and not by how it is called.
    [{ name: 'a' }, 'name', false],
  ])('of %j finds %j: %j', (row, text, found) => {
    expect(matches(row, text)).toBe(found)
  })
})

describe('a selection', () => {
  it('moves as far as the keys say, and never out of what is there and seen', () => {
    const keys = fc.array(fc.constantFrom('up', 'down', 'pageup', 'pagedown', 'home', 'end', 'j', 'k', 'x'))
    fc.assert(
      fc.property(keys, fc.integer({ min: 0, max: 40 }), fc.integer({ min: 1, max: 12 }), (pressed, count, height) => {
        let selection = { index: 0, top: 0 }
        let wanted = 0
        for (const name of pressed) {
          const step = stepOf(name, height)
          if (step === null) continue
          selection = moveSelection(selection, step, count, height)
          wanted = Math.min(Math.max(0, count - 1), Math.max(0, wanted + step))
          expect(selection.index).toBe(wanted)
          expect(selection.top).toBeLessThanOrEqual(selection.index)
          expect(selection.index - selection.top).toBeLessThan(height)
          // No line stays empty while there are rows for it.
          expect(selection.top).toBeLessThanOrEqual(Math.max(0, count - height))
        }
      }),
    )
  })

  it.each<[string, number]>([
    ['up', -1],
    ['k', -1],
    ['down', 1],
    ['j', 1],
    ['pageup', -10],
    ['ctrl-u', -10],
    ['pagedown', 10],
    ['ctrl-d', 10],
    ['home', Number.NEGATIVE_INFINITY],
    ['g', Number.NEGATIVE_INFINITY],
    ['end', Number.POSITIVE_INFINITY],
    ['G', Number.POSITIVE_INFINITY],
  ])('is moved by %s, by %d of ten lines that are seen', (name, step) => {
    expect(stepOf(name, 10)).toBe(step)
  })

  it('fills the screen again when there are fewer rows', () => {
    expect(moveSelection({ index: 9, top: 6 }, 0, 8, 4)).toEqual({ index: 7, top: 4 })
    expect(moveSelection({ index: 7, top: 6 }, -1, 8, 4)).toEqual({ index: 6, top: 4 })
    expect(moveSelection({ index: 7, top: 4 }, -5, 3, 4)).toEqual({ index: 2, top: 0 })
    expect(moveSelection({ index: 2, top: 0 }, 0, 0, 4)).toEqual({ index: 0, top: 0 })
  })
})
