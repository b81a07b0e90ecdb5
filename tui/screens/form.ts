import { checkInput } from '../../cli/check-input.ts'
import { reportFault } from '../../cli/fault.ts'
import type { Field, Operation } from '../../cli/operation.ts'
import { alignText } from '../../cli/print/table.ts'
import { textWidth } from '../../cli/print/text-width.ts'
import { valueAt } from '../../src/admin/contract/show-value.ts'
import { clearWord } from '../../src/core/policies/policy-rules.ts'
import { clip } from '../clip.ts'
import { askedFields, currentText, fieldOfUnknown, helpOf, labelOf, readText } from '../form-fields.ts'
import type { KeyPress } from '../keys.ts'
import type { NameScope } from '../known-names.ts'
import { type EditedLine, editLine, insert, lineOf, windowOf } from '../line-editor.ts'
import { mark, wrap } from '../lines.ts'
import type { DrawArea, Hint, Screen, TextTheme } from '../screen.ts'
import { moveSelection, type Selection } from '../selection.ts'

/** One field and what is written in it. */
interface FormEntry {
  field: Field
  line: EditedLine
  /** What the thing had when the form was opened; a field that still has it is not sent. */
  before: string
  /** What stood in it then: more is typed. */
  opened: string
  problem: string | null
}

export interface FormOptions {
  operation: Operation
  given: object
  /** Fields that say which thing is meant, and are not asked where that is known. */
  hidden: readonly string[]
  subject?: unknown
  /** What it is done with. */
  about?: unknown
  /** What the last line is called: `Add`, `Save`. */
  button: string
  /** What a field starts with in place of its default. */
  start: Readonly<Record<string, string>>
  /** Names that a field may take, live from the gateway; none known yet: empty. `scope`: what is written of it. */
  namesFor(field: Field, scope: NameScope): readonly string[]
  /** What was written, in the form that the operation takes; rejects where that cannot be. */
  complete(input: Record<string, unknown>): Promise<Record<string, unknown>>
  /** Until it settles, the form waits. */
  submit(input: object): Promise<void> | void
  changed(): void
}

/** The input of an operation, a field a line. */
export class FormScreen implements Screen {
  readonly title: string
  readonly typing = true
  readonly isDialog = true
  readonly #options: FormOptions
  readonly #entries: FormEntry[]
  #selection: Selection = { index: 0, top: 0 }
  #problem: string | null = null
  #busy = false
  /** Escape was pressed once, and what was typed is about to be lost. */
  #leaving = false

  constructor(options: FormOptions, title: string) {
    this.#options = options
    this.title = title
    // What is emptied is cleared: nobody has to name it.
    const hidden = options.subject === undefined ? options.hidden : [...options.hidden, 'clear']
    this.#entries = askedFields(options.operation, options.given, hidden).map((field) => {
      const before = currentText(field, options.subject)
      const opened = before || (options.start[field.name] ?? startText(field))
      return { field, line: lineOf(opened), before, opened, problem: null }
    })
  }

  /** Those that mean something to the kind that is chosen. */
  get #seen(): FormEntry[] {
    const chosen = this.#entries.find(({ field }) => field.name === 'kind')?.line.text
    const kind = chosen ?? valueAt(this.#options.subject, 'kind')
    return this.#entries.filter(({ field }) => fitsKind(field, typeof kind === 'string' ? kind : ''))
  }

  draw({ width, height, theme }: DrawArea): string[] {
    const head = wrap(`${this.#options.operation.meta.summary}.`, width)
    const help = this.#help(width, theme)
    const room = Math.max(3, height - head.length - help.length - 2)
    const rows = [...this.#seen.map((entry) => labelOf(entry.field)), '']
    this.#selection = moveSelection(this.#selection, 0, rows.length, room)
    const labels = Math.max(...rows.map((label) => textWidth(label))) + 2
    const { top, index } = this.#selection
    const lines = rows
      .slice(top, top + room)
      .map((_, seen) => this.#row(top + seen, top + seen === index, labels, width, theme))
    const more = rows.length - top - room
    const where = more > 0 ? theme.paint('quiet', `  … ${more} more`) : ''
    return [...head, '', ...lines, where, ...help].map((line) => clip(line, width))
  }

  #row(position: number, selected: boolean, labels: number, width: number, theme: TextTheme): string {
    const entry = this.#seen[position]
    if (entry === undefined) {
      const button = `[ ${this.#busy ? 'Wait…' : this.#options.button} ]`
      return mark(selected, theme) + (selected ? theme.paint('strong', button) : button)
    }
    const { field } = entry
    const label = alignText(`${labelOf(field)}${field.required ? ' *' : ''}`, labels, false)
    const value = this.#value(entry, selected, width - labels - 4, theme)
    return `${mark(selected, theme)}${theme.paint(selected ? 'strong' : 'quiet', label)}  ${value}`
  }

  #value(entry: FormEntry, selected: boolean, room: number, theme: TextTheme): string {
    const { field, line } = entry
    if (field.secret) return secretText(line, selected, theme)
    if (field.shape === 'boolean') return `[${line.text === 'true' ? 'x' : ' '}]`
    if (selected && this.#choices(entry).length > 0 && this.#isChoice(entry)) {
      return `‹ ${theme.cursor(line.text === '' ? unset : line.text)} ›`
    }
    if (!selected)
      return line.text === '' ? theme.paint('quiet', placeholder(field)) : clip(windowOf(line, room).before, room)
    const { before, under, after } = windowOf(line, room)
    return before + theme.cursor(under) + after
  }

  /** What the field is for, what is wrong with it, and what it may hold. */
  #help(width: number, theme: TextTheme): string[] {
    const entry = this.#seen[this.#selection.index]
    const problem = this.#leaving ? escapeAgain : (entry?.problem ?? this.#problem)
    const colour = this.#leaving ? 'warning' : 'bad'
    const said = problem === null ? [] : wrap(problem, width - 4).map((line) => theme.paint(colour, line))
    if (entry === undefined) return said
    const { field } = entry
    const known = this.#choices(entry)
    const notes = [helpOf(field), this.#isChoice(entry) ? '' : formOf(field)].filter((note) => note !== '')
    const lead = isSeveral(field) ? 'Of:' : '←→'
    const names = known.length === 0 ? [] : wrap(`${lead} ${known.join(', ')}`, width - 4).slice(0, 2)
    return [...said, ...wrap(notes.join('. '), width - 4).map((line) => theme.paint('quiet', line)), ...names]
  }

  hints(): Hint[] {
    if (this.#busy) return [['esc', 'leave']]
    return [
      ['↑↓', 'field'],
      ['enter', 'next'],
      ['ctrl-s', this.#options.button.toLowerCase()],
      ['esc', this.#leaving ? 'discard' : 'cancel'],
    ]
  }

  paste(text: string): void {
    this.#leaving = false
    const entry = this.#seen[this.#selection.index]
    if (entry !== undefined && entry.field.shape !== 'boolean' && !this.#busy)
      this.#write(entry, insert(entry.line, text))
  }

  press(press: KeyPress): boolean {
    if (press.name === 'escape') return this.#warn()
    this.#leaving = false
    return this.#busy || this.#command(press, this.#seen[this.#selection.index])
  }

  /** False: the form is left, for nothing would be lost, or was said to be. What is on its way is sent anyway. */
  #warn(): boolean {
    if (this.#busy || this.#leaving || this.#entries.every(({ line, opened }) => line.text === opened)) return false
    this.#leaving = true
    return true
  }

  #command(press: KeyPress, entry: FormEntry | undefined): boolean {
    switch (press.name) {
      case 'ctrl-s':
        return this.#submit()
      case 'up':
      case 'backtab':
        return this.#move(-1)
      case 'down':
      case 'tab':
        return this.#move(1)
      case 'enter':
        return entry === undefined ? this.#submit() : this.#move(1)
      default:
        return entry === undefined ? true : this.#edit(entry, press)
    }
  }

  #move(step: number): boolean {
    this.#selection = moveSelection(this.#selection, step, this.#seen.length + 1, Number.POSITIVE_INFINITY)
    return true
  }

  #edit(entry: FormEntry, press: KeyPress): boolean {
    const { field, line } = entry
    if (field.shape === 'boolean') {
      if ([' ', 'left', 'right', 'x'].includes(press.name))
        this.#write(entry, lineOf(line.text === 'true' ? 'false' : 'true'))
      return true
    }
    const turn = press.name === 'left' ? -1 : press.name === 'right' ? 1 : 0
    if (turn !== 0 && this.#isChoice(entry)) {
      this.#write(entry, lineOf(turnChoice(this.#choices(entry), line.text, turn, field.required)))
      return true
    }
    const edited = editLine(line, press)
    if (edited !== null) this.#write(entry, edited)
    return true
  }

  #write(entry: FormEntry, line: EditedLine): void {
    entry.line = line
    entry.problem = null
    this.#problem = null
  }

  #choices({ field }: FormEntry): readonly string[] {
    if (isSeveral(field)) return field.choices ?? []
    return field.choices ?? this.#options.namesFor(field, this.#scope())
  }

  /** Where the things that are named are looked for: an operation that takes no place has that of the thing it is about. */
  #scope(): NameScope {
    const { operation, given, about } = this.#options
    const written = (name: string) => {
      const entry = this.#entries.find(({ field }) => field.name === name && field.shape === 'text')
      const isTaken = operation.fields.some((field) => field.name === name)
      const text = entry?.line.text || valueAt(isTaken ? given : about, name)
      return typeof text === 'string' ? text : undefined
    }
    return { project: written('project'), environment: written('environment') }
  }

  /** The arrows choose while the text is one of the names, or none yet; else they move in the text. */
  #isChoice(entry: FormEntry): boolean {
    const { field, line } = entry
    if (isSeveral(field)) return false
    const choices = this.#choices(entry)
    return choices.length > 0 && (line.text === '' || choices.includes(line.text))
  }

  #submit(): boolean {
    if (this.#busy) return true
    const input: Record<string, unknown> = { ...this.#options.given }
    const cleared: string[] = []
    for (const [position, entry] of this.#seen.entries()) {
      const problem = this.#read(entry, input, cleared)
      if (problem === null) continue
      entry.problem = problem
      this.#selection = { ...this.#selection, index: position }
      return true
    }
    this.#busy = true
    void this.#check(cleared.length === 0 ? input : { ...input, clear: cleared })
    return true
  }

  /** Puts the entry's value into the input, or its name into `cleared`; gives what is wrong with it. */
  #read({ field, line, before }: FormEntry, input: Record<string, unknown>, cleared: string[]): string | null {
    if (field.required && line.text.trim() === '') return `${labelOf(field)} is required.`
    if (line.text === before || (before === '' && line.text === startText(field))) return null
    try {
      const value = readText(field, line.text, before)
      if (value !== undefined) input[field.name] = value
      else if (before !== '' && this.#clears(field)) cleared.push(clearWord(field.name))
      return null
    } catch (error) {
      return withoutFlag(error, field)
    }
  }

  /** A setting that nothing written would unset is named in a field of its own, which the form fills in. */
  #clears({ name }: Field): boolean {
    const choices = this.#options.operation.fields.find((field) => field.name === 'clear')?.choices ?? []
    return choices.includes(clearWord(name))
  }

  async #check(input: Record<string, unknown>): Promise<void> {
    try {
      const whole = await this.#options.complete(input)
      await checkInput(this.#options.operation, whole)
      await this.#options.submit(whole)
      this.#busy = false
      this.#options.changed()
    } catch (error) {
      this.fail(error)
    }
  }

  /** The gateway, or the schema, said no: the form stays as it was written. */
  fail(error: unknown): void {
    this.#busy = false
    const { cause, hint } = reportFault(error)
    const named = this.#seen.findIndex(({ field }) => mentions(cause, field, this.#options.operation))
    const meant = named < 0 ? this.#seen.findIndex(({ field }) => isMeant(hint, field)) : named
    const position = meant < 0 ? fieldOfUnknown(cause, this.#seen) : meant
    const entry = this.#seen[position]
    if (entry === undefined) {
      this.#problem = `${cause} ${hint}`
      this.#selection = { ...this.#selection, index: this.#seen.length }
    } else {
      entry.problem = named < 0 && meant >= 0 ? cause : withoutFlag(error, entry.field)
      this.#selection = { ...this.#selection, index: position }
    }
    this.#options.changed()
  }
}

/** Written, not chosen: the arrows move in the text. */
function isSeveral({ shape }: Field): boolean {
  return shape === 'list' || shape === 'pairs'
}

const unset = 'not set'
const escapeAgain = 'Nothing is saved yet. Press Escape again to discard what you wrote.'

function startText({ shape, fallback }: Field): string {
  if (fallback === undefined || fallback === null || typeof fallback === 'object') return ''
  return shape === 'boolean' || String(fallback) !== '' ? String(fallback) : ''
}

function placeholder({ required }: Field): string {
  return required ? '' : '–'
}

/** Nothing of it is shown, not even how long it is. */
function secretText(line: EditedLine, selected: boolean, theme: TextTheme): string {
  const text = line.text === '' ? '' : '••••••••'
  return selected ? text + theme.cursor(' ') : text === '' ? theme.paint('quiet', '–') : text
}

const severalWritten = 'Separate several with commas; quote a value that contains one'

function formOf(field: Field): string {
  if (field.secret) return 'Hidden while you type'
  if (field.shape === 'boolean') return 'Space toggles it'
  if (field.syntax === 'files') return `Path of a file on this machine. ${severalWritten}`
  if (field.shape === 'pairs') return 'NAME=VALUE, separated by commas; quote a value that contains one: "a=1,2"'
  if (field.syntax === 'target') return 'PROVIDER[:MODEL][,weight=N][,priority=N][,format=F], separated by spaces'
  if (field.shape === 'list') return severalWritten
  if (field.syntax === 'duration') return 'For example 250ms, 5s or 30m'
  if (field.syntax === 'size') return 'For example 64KB or 100MB'
  return ''
}

function turnChoice(choices: readonly string[], text: string, turn: number, required: boolean): string {
  const all = required ? choices : ['', ...choices]
  const position = all.indexOf(text)
  if (position < 0) return (turn > 0 ? all[0] : all.at(-1)) ?? ''
  return all[(position + turn + all.length) % all.length] ?? ''
}

/** The command line names a field by its flag; a form shows the message under the field itself. */
function withoutFlag(error: unknown, field: Field): string {
  const { cause, hint } = reportFault(error)
  const label = labelOf(field)
  const text = cause.replace(new RegExp(`^(--${field.flag}|${field.flag.toUpperCase()})(?= )`), label)
  return /^See spgw|--verbose/.test(hint) ? text : `${text} ${hint.replace(/--([a-z-]+)/g, '$1')}`
}

/** What to do is told in flags: the field is where to do it. */
function isMeant(hint: string, { flag }: Field): boolean {
  return new RegExp(`--${flag}(-stdin|-env)?(?![a-z-])`).test(hint)
}

function fitsKind({ kinds }: Field, kind: string): boolean {
  return kinds === undefined || kind === '' || kinds.includes(kind)
}

function mentions(cause: string, field: Field, { meta }: Operation): boolean {
  const label = meta.positional?.includes(field.name) ? field.flag.toUpperCase() : `--${field.flag}`
  return cause.startsWith(`${label} `)
}
