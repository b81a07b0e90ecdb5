import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { parseSettingsFile, readSettingsFile } from '../../src/config/settings-file.ts'
import { SettingsRefused } from '../../src/config/settings-refused.ts'

function problems(read: () => unknown): string[] {
  try {
    read()
  } catch (error) {
    if (!(error instanceof SettingsRefused)) throw error
    return error.problems.map(({ place, message }) => `${place}: ${message}`)
  }
  return []
}
const refused = (text: string) => problems(() => parseSettingsFile(text, 'a.yaml'))

describe('a settings file', () => {
  it('that is not there is none, and one that cannot be read is refused', () => {
    expect(readSettingsFile(join(tmpdir(), 'no-such-file.yaml'))).toBeNull()
    expect(problems(() => readSettingsFile(tmpdir()))).toEqual([`${tmpdir()}: cannot be read (EISDIR)`])
  })

  it('that is empty holds nothing, and so does one of comments', () => {
    for (const text of ['', '# nothing\n', '---\n']) expect(parseSettingsFile(text, 'a.yaml').tree).toEqual({})
  })

  it('has only what is set, in sections of sections too', () => {
    const text = 'gateway:\n  listen:\n  timeouts:\n    total:\n    connect: 1s\nlog:\nroutes: [null]\n'
    expect(parseSettingsFile(text, 'a.yaml').tree).toEqual({
      gateway: { timeouts: { connect: '1s' } },
      routes: [null],
    })
  })

  it.each([
    ['a value that is never closed', 'log:\n  level: "info\n', ['a.yaml:3:1: Missing closing "quote']],
    ['a second document', 'log: {}\n---\nlog: {}\n', ['a.yaml:2:1: a second document begins here; a file has one']],
    ['a name for the second time', 'log: {}\nlog: {}\n', ['a.yaml:2:1: Map keys must be unique']],
    [
      'names for the second time, of which three are told',
      'a: 1\n'.repeat(9),
      [2, 3, 4].map((line) => `a.yaml:${line}:1: Map keys must be unique`),
    ],
    ['a list', '- a\n', ['a.yaml:1:1: expected settings, like gateway: and below it listen: …']],
    ['a word', 'gateway', ['a.yaml:1:1: expected settings, like gateway: and below it listen: …']],
    ['deep nesting', `log: 1\na: ${'['.repeat(400)}`, ['a.yaml:2:304: nested too deeply']],
  ])('is refused for %s, with the place', (_what, text, told) => {
    expect(refused(text)).toEqual(told)
  })

  it('tells of no more than three slips, since the first makes the others', () => {
    expect(refused('a: %\nb: @\nc: `\nd: @\ne: @\n')).toHaveLength(3)
  })

  it.each([
    ['!canary-value', 'Unknown tag: a value that begins with ! needs quotes'],
    ['!!canary-value', 'Unknown tag: a value that begins with ! needs quotes'],
    ['!<canary-value', 'Unknown tag: a value that begins with ! needs quotes'],
    ['!canary-value!', 'Unknown tag: a value that begins with ! needs quotes'],
    ['*canary-value', 'Unknown alias: a value that begins with * needs quotes'],
    ['|canary-value', 'Block scalar header includes extra characters'],
    ['> canary-value', 'Not a YAML token'],
    ['"a" canary-value', 'Unexpected scalar at node end'],
    ['"\\Ucanary-v"', 'Invalid escape sequence'],
    ['{ "a" "canary-value" }', 'Missing , or : between flow map items'],
  ])('shows nothing of a value that is no YAML, but what to do: %s', (value, message) => {
    const told = refused(`log: 1\nkey: ${value}\n`)
    expect(told.join('\n')).not.toContain('canary')
    expect(
      told.some((each) => each.startsWith('a.yaml:2:') && each.endsWith(`: ${message}`)),
      told.join(),
    ).toBe(true)
  })

  it('shows nothing of a directive that is none', () => {
    expect(refused('%canary-value x\n---\na: 1\n')).toEqual(['a.yaml:1:1: Unknown directive'])
    expect(refused('%YAML canary\n---\na: 1\n')).toEqual(['a.yaml:1:7: Unsupported YAML version'])
  })

  it('says nothing on standard error of a mapping that is a name', () => {
    const warned = vi.spyOn(process, 'emitWarning').mockReturnValue()
    onTestFinished(() => warned.mockRestore())
    parseSettingsFile('key: {{ canary-value }}\n', 'a.yaml')
    expect(warned).not.toHaveBeenCalled()
  })

  it('may say a thing once and mean it twice', () => {
    const text = 'a: &a { x: &x 1 }\nb: *a\nc: [*x, &y y, *y]\n'
    expect(parseSettingsFile(text, 'a.yaml').tree).toEqual({ a: { x: 1 }, b: { x: 1 }, c: [1, 'y', 'y'] })
    expect(refused('a: *b\nb: &b 1\n')).toEqual(['a.yaml:1:4: Unknown alias: a value that begins with * needs quotes'])
  })
})

describe('the place of a setting', () => {
  const { place } = parseSettingsFile(
    'log:\n  level: info\nproviders:\n  - name: a\n  - kind: openai\n    name: b\n1: one\n',
    'a.yaml',
  )

  it.each([
    [['log'], '1:1'],
    [['log', 'level'], '2:3'],
    [['log', 'format'], '1:1'],
    [['log', 'level', 'deeper'], '2:3'],
    [['providers', '1'], '5:5'],
    [['providers', '1', 'name'], '6:5'],
    [['providers', '7', 'name'], '3:1'],
    [['1'], '7:1'],
    [['gateway', 'listen'], '1:1'],
  ])('%j is where it stands, or the nearest above it', (path, at) => {
    expect(place(path)).toBe(`a.yaml:${at}`)
  })
})
