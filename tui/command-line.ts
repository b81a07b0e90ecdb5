import { textWidth } from '../cli/print/text-width.ts'
import { escapeControls } from '../src/admin/contract/show-value.ts'
import { clip } from './clip.ts'
import { type NamedCommand, nearestCommand, parseCommand, suggestCommands } from './commands.ts'
import type { KeyPress } from './keys.ts'
import { type EditedLine, editLine, insert, lineOf, windowOf } from './line-editor.ts'
import type { TextTheme } from './screen.ts'

const mostKept = 50

/** The line after `:`, at the foot of the screen. */
export class CommandLine {
  #line: EditedLine = lineOf('')
  #commands: readonly NamedCommand[] = []
  readonly #written: string[] = []
  /** Which of the written lines is shown; as many as there are: the one that is being written. */
  #place = 0
  /** The one that is being written, while an older one is shown. */
  #draft: EditedLine = lineOf('')
  isOpen = false

  open(commands: readonly NamedCommand[]): void {
    this.#commands = commands
    this.#line = lineOf('')
    this.#place = this.#written.length
    this.isOpen = true
  }

  paste(text: string): void {
    this.#line = insert(this.#line, text)
  }

  /** What went wrong, to be said; null: nothing. */
  press(press: KeyPress): string | null {
    switch (press.name) {
      case 'enter':
        return this.#run()
      case 'escape':
        this.isOpen = false
        return null
      case 'tab':
      case 'backtab':
        this.#complete()
        return null
      case 'up':
      case 'down':
        this.#recall(press.name === 'up' ? -1 : 1)
        return null
      default:
        // One press too many of backspace leaves, as in an editor.
        if (press.name === 'backspace' && this.#line.text === '') this.isOpen = false
        this.#line = editLine(this.#line, press) ?? this.#line
        return null
    }
  }

  #run(): string | null {
    const text = this.#line.text.trim()
    this.isOpen = false
    if (text === '') return null
    const found = parseCommand(text, this.#commands)
    if (/\s--?[a-z]/i.test(text)) return 'Leave flags out here: a form asks for them.'
    if (found === null) return describeUnknown(text, this.#commands)
    this.#written.push(text)
    this.#written.splice(0, this.#written.length - mostKept)
    found.command.run(found.rest)
    return null
  }

  #complete(): void {
    const known = this.#matches()
    const [first] = known
    if (first === undefined) return
    const shared = sharedStart(known)
    const text = shared.length > this.#line.text.length ? shared : first
    this.#line = lineOf(known.length === 1 || text === first ? `${text} ` : text)
  }

  /** Whole lines that this one may become. */
  #matches(): string[] {
    const text = this.#line.text.trimStart()
    const parsed = parseCommand(text, this.#commands)
    if (parsed !== null && text.startsWith(`${parsed.command.words} `)) {
      const begun = parsed.rest.at(-1) ?? ''
      const names = parsed.rest.length > 1 ? [] : parsed.command.names().filter((name) => name.startsWith(begun))
      if (names.length > 0) return names.map((name) => `${parsed.command.words} ${name}`)
    }
    return suggestCommands(text, this.#commands).map(({ words }) => words)
  }

  #recall(step: number): void {
    const next = Math.min(Math.max(0, this.#place + step), this.#written.length)
    if (next === this.#place) return
    if (this.#place === this.#written.length) this.#draft = this.#line
    this.#place = next
    const older = this.#written[next]
    this.#line = older === undefined ? this.#draft : lineOf(older)
  }

  draw(width: number, theme: TextTheme): string {
    const { before, under, after } = windowOf(this.#line, Math.max(10, Math.min(60, width - 20)))
    const text = `${theme.paint('strong', ':')}${before}${theme.cursor(under)}${after}`
    const room = width - textWidth(text) - 2
    return clip(room < 10 ? text : `${text}  ${theme.paint('quiet', clip(this.#hint(), room))}`, width)
  }

  #hint(): string {
    const text = this.#line.text
    if (text.trim() === '') return 'a place, or a command as after spgw: keys, routes explain gpt-4o, scope all'
    const parsed = parseCommand(text, this.#commands)
    const matches = this.#matches().filter((match) => match !== text.trim())
    if (parsed !== null && (matches.length === 0 || text.startsWith(`${parsed.command.words} `))) {
      const names = matches.map((match) => match.slice(parsed.command.words.length + 1))
      const what = [parsed.command.takes, parsed.command.detail].filter((part) => part !== '').join('  ')
      return escapeControls(names.length === 0 ? what : `${names.slice(0, 8).join('  ')}`)
    }
    return matches.length === 0 ? 'no such command' : escapeControls(matches.slice(0, 8).join('  '))
  }
}

/** They read and write files of this machine, and need no gateway. */
const shellCommands = ['import', 'connect', 'doctor', 'restore', 'completion']

function describeUnknown(text: string, commands: readonly NamedCommand[]): string {
  const first = text.split(' ', 1)[0] ?? ''
  if (shellCommands.includes(first)) return `${first} is a command for a shell: spgw ${first} --help`
  const matches = suggestCommands(text, commands)
  if (matches.length > 1)
    return `${text} may be ${matches
      .slice(0, 4)
      .map(({ words }) => words)
      .join(', ')}.`
  const near = nearestCommand(text, commands)
  return `There is no command ${text}. ${near === null ? 'Press : and Tab to see some.' : `Did you mean ${near}?`}`
}

function sharedStart(texts: readonly string[]): string {
  const [first = '', ...rest] = texts
  let length = first.length
  for (const text of rest) while (!text.startsWith(first.slice(0, length))) length--
  return first.slice(0, length)
}
