import { describe, expect, it } from 'vitest'
import { prepareWidths } from '../../cli/print/text-width.ts'
import { CommandLine } from '../../tui/command-line.ts'
import { type NamedCommand, nearestCommand, parseCommand, suggestCommands } from '../../tui/commands.ts'
import type { TextTheme } from '../../tui/screen.ts'

await prepareWidths('漢')
const theme = { paint: (_tone: string, text: string) => text, cursor: (text: string) => `[${text}]` } as TextTheme

function open() {
  const ran: [words: string, rest: readonly string[]][] = []
  const command = (words: string, takes = '', names: string[] = []): NamedCommand => ({
    ...{ words, takes, detail: `About ${words}`, names: () => names },
    run: (rest) => ran.push([words, rest]),
  })
  const commands = [
    command('keys'),
    command('routes'),
    command('keys show', 'KEY', ['web', 'worker', 'bot']),
    command('keys rotate', 'KEY'),
    command('keys revoke', 'KEY'),
    command('routes explain', 'MODEL'),
    command('audit verify'),
  ]
  const line = new CommandLine()
  line.open(commands)
  const press = (...names: string[]) => {
    const said = names.map((name) => line.press({ name, text: name.length === 1 ? name : '' }))
    return said.at(-1) ?? null
  }
  const type = (text: string) => press(...text)
  const enter = (text: string) => {
    line.open(commands)
    type(text)
    return press('enter')
  }
  /** What is written, with its cursor, and what is said beside it. */
  const shown = () => line.draw(200, theme).split('  ')
  return { line, commands, ran, press, type, enter, shown }
}

describe('the keys of the command line', () => {
  it('run what is written, and close it', () => {
    const { enter, ran, line } = open()
    expect([enter('keys show web'), enter(' keys '), enter('audit verify'), enter('')]).toEqual([
      null,
      null,
      null,
      null,
    ])
    expect(ran).toEqual([
      ['keys show', ['web']],
      ['keys', []],
      ['audit verify', []],
    ])
    expect(line.isOpen).toBe(false)
  })

  it('say of what cannot be run why, and keep it out of the older lines', () => {
    const { enter, line, commands, press, shown, ran } = open()
    expect(enter('keys show web --json')).toBe('Leave flags out here: a form asks for them.')
    expect(enter('keys show -p x')).toBe('Leave flags out here: a form asks for them.')
    for (const shell of ['import', 'connect', 'doctor', 'restore', 'completion'])
      expect(enter(`${shell} x`)).toBe(`${shell} is a command for a shell: spgw ${shell} --help`)
    expect(enter('   ')).toBeNull()
    expect(enter('keyz')).toBe('There is no command keyz. Did you mean keys?')
    expect(enter('keys r')).toBe('keys r may be keys rotate, keys revoke.')
    expect(enter('qqqq')).toBe('There is no command qqqq. Press : and Tab to see some.')
    expect(ran).toEqual([])
    line.open(commands)
    press('up')
    expect(shown()[0]).toBe(':[ ]')
    press('f5', 'a')
    expect(shown()[0]).toBe(':a[ ]')
  })

  it('go back through the last fifty lines, and forward to the one that is being written', () => {
    const { enter, line, commands, press, type, shown } = open()
    for (let number = 1; number <= 60; number++) enter(`keys show k${number}`)
    line.open(commands)
    type('rou')
    press('down')
    expect(shown()[0]).toBe(':rou[ ]')
    press('up')
    expect(shown()[0]).toBe(':keys show k60[ ]')
    press(...Array<string>(80).fill('up'))
    expect(shown()[0]).toBe(':keys show k11[ ]')
    press('down')
    expect(shown()[0]).toBe(':keys show k12[ ]')
    press(...Array<string>(80).fill('down'))
    expect(shown()[0]).toBe(':rou[ ]')
  })

  it('complete as far as all go that are meant, then the first of them', () => {
    const { type, press, shown } = open()
    const written = (text: string, ...names: string[]) => {
      press('ctrl-u')
      type(text)
      press(...names)
      return shown()[0]
    }
    expect(written('ke', 'tab')).toBe(':keys [ ]')
    expect(written('ro', 'tab')).toBe(':routes [ ]')
    expect(written('keys r', 'tab')).toBe(':keys rotate [ ]')
    expect(written('keys re', 'tab')).toBe(':keys revoke [ ]')
    expect(written('au', 'backtab')).toBe(':audit verify [ ]')
    expect(written('keys show w', 'tab')).toBe(':keys show web [ ]')
    expect(written('keys show wo', 'tab')).toBe(':keys show worker [ ]')
    expect(written('keys show q', 'tab')).toBe(':keys show q[ ]')
    expect(written('qqqq', 'tab')).toBe(':qqqq[ ]')
  })

  it('close it with escape and one backspace too many, and not with one that deletes', () => {
    const { line, press, type } = open()
    type('a')
    press('backspace')
    expect(line.isOpen).toBe(true)
    press('backspace')
    expect(line.isOpen).toBe(false)
    const other = open()
    other.type('keys')
    other.press('escape')
    expect(other.line.isOpen).toBe(false)
  })

  it('say what may follow', () => {
    const { type, press, shown, line } = open()
    const hint = (text: string) => {
      press('ctrl-u')
      type(text)
      return shown().slice(1).join('  ')
    }
    expect(hint('')).toContain('a place, or a command')
    expect(hint('keys')).toBe('keys show  keys rotate  keys revoke')
    expect(hint('keys rotate')).toBe('KEY  About keys rotate')
    expect(hint('keys show ')).toBe('web  worker  bot')
    expect(hint('keys show wor')).toBe('worker')
    expect(hint('keys show web x')).toBe('KEY  About keys show')
    expect(hint('audit verify')).toBe('About audit verify')
    expect(hint('zzz')).toBe('no such command')
    press('ctrl-u')
    line.paste('keys\nshow')
    expect(shown()[0]).toBe(':keys show[ ]')
  })
})

describe('a command by its beginning', () => {
  const { commands } = open()
  const parsed = (text: string) => {
    const found = parseCommand(text, commands)
    return found === null ? null : [found.command.words, found.rest]
  }

  it.each<[string, [string, string[]] | null]>([
    ['keys show web', ['keys show', ['web']]],
    ['  keys   show  web ', ['keys show', ['web']]],
    ['keys sh', ['keys show', []]],
    ['ke', ['keys', []]],
    ['AU', ['audit verify', []]],
    ['keys web', null],
    ['keys ', ['keys', []]],
    ['keys r', null],
    ['', null],
  ])('is found: %j', (text, found) => {
    expect(parsed(text)).toEqual(found)
  })

  it('is suggested with all that begin so, and what is near to what is none', () => {
    expect(suggestCommands('KEYS ', commands).map(({ words }) => words)).toEqual([
      ...['keys show', 'keys rotate', 'keys revoke'],
    ])
    expect(suggestCommands(' ', commands)).toEqual([])
    expect(nearestCommand('keys shwo now', commands)).toBe('keys show')
    expect(nearestCommand('rotes everything', commands)).toBe('routes')
    expect(nearestCommand('zzzzzz', commands)).toBeNull()
  })
})
