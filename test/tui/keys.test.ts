import type { Key } from 'ink'
import { describe, expect, it } from 'vitest'
import { readPresses } from '../../tui/keys.ts'

/** As Ink tells of plain text: no key of its own in it. */
const plain = {} as Key
const names = (input: string, key: Key = plain) => readPresses(input, key).map(({ name }) => name)

describe('readPresses', () => {
  it.each([
    ['text', 'ab', ['a', 'b']],
    ['text with Enter, Tab and Backspace in it', 'a\rb\tc\u007f', ['a', 'enter', 'b', 'tab', 'c', 'backspace']],
    ['Ctrl before text: one line cleared and written anew', '\u00153', ['ctrl-u', '3']],
    ['Ctrl behind text: written and sent', '3\u0013', ['3', 'ctrl-s']],
    ['every letter with Ctrl that is no key of its own', '\u0001\u001a', ['ctrl-a', 'ctrl-z']],
    ['controls that are no letter', '\u0000\u001f!', ['!']],
    ['characters of more than one unit', 'é🎉', ['é', '🎉']],
  ])('reads one piece with many presses: %s', (_, input, expected) => {
    expect(names(input)).toEqual(expected)
  })

  it('reads a key of its own, and Escape before text', () => {
    expect(names('', { ...plain, downArrow: true })).toEqual(['down'])
    expect(names('', { ...plain, tab: true, shift: true })).toEqual(['backtab'])
    expect(names('u', { ...plain, ctrl: true })).toEqual(['ctrl-u'])
    expect(names('x', { ...plain, meta: true })).toEqual(['escape', 'x'])
  })

  it.each<[keyof Key, string]>([
    ['upArrow', 'up'],
    ['downArrow', 'down'],
    ['leftArrow', 'left'],
    ['rightArrow', 'right'],
    ['pageUp', 'pageup'],
    ['pageDown', 'pagedown'],
    ['home', 'home'],
    ['end', 'end'],
    ['return', 'enter'],
    ['escape', 'escape'],
    ['backspace', 'backspace'],
    ['delete', 'delete'],
    ['tab', 'tab'],
  ])('reads the key %s, which writes nothing, as %s', (flag, name) => {
    expect(readPresses('', { ...plain, [flag]: true })).toEqual([{ name, text: '' }])
  })

  it('reads what a key writes, and nothing of one that writes none', () => {
    expect(readPresses('a\u0015\r', plain)).toEqual([
      { name: 'a', text: 'a' },
      { name: 'ctrl-u', text: '' },
      { name: 'enter', text: '' },
    ])
    expect(readPresses('u', { ...plain, ctrl: true })).toEqual([{ name: 'ctrl-u', text: '' }])
    expect(readPresses('\n', { ...plain, meta: true })).toEqual([
      { name: 'escape', text: '' },
      { name: 'enter', text: '' },
    ])
  })
})
