import type { Field, Operation } from '../../cli/operation.ts'
import { textWidth } from '../../cli/print/text-width.ts'
import { fillIn } from '../../src/admin/contract/fill-in.ts'
import { absent, escapeControls, formatCell } from '../../src/admin/contract/show-value.ts'
import { nameOfRow, titleOf } from '../areas.ts'
import { clip } from '../clip.ts'
import { helpOf, labelOf } from '../form-fields.ts'
import type { KeyPress } from '../keys.ts'
import { type EditedLine, editLine, insert, lineOf, windowOf } from '../line-editor.ts'
import { pairs, wrap } from '../lines.ts'
import { Pager } from '../pager.ts'
import type { DrawArea, Hint, Screen, TextTheme } from '../screen.ts'

export interface ConfirmOptions {
  operation: Operation
  input: object
  /** The thing that it is done to; undefined: the gateway itself. */
  subject?: unknown
  /** The list that it stands in, whose columns say how much hangs on it. */
  list: Operation | null
  /** What can be said yes to besides. */
  switches: readonly Field[]
  /** How to undo it; what can be undone is confirmed with a key, anything else with its name. */
  undo?: string | undefined
  /** What will be done, where that was worked out. */
  plan?: { owner: string; draw(theme: TextTheme): string[] }
  go(switched: object): void
}

/** Says what will happen, and to what, and asks for the name. */
export class ConfirmScreen implements Screen {
  readonly title: string
  readonly typing = true
  readonly isDialog = true
  readonly #danger: ConfirmOptions
  readonly #name: string
  #line: EditedLine = lineOf('')
  #wrong = false
  readonly #pager = new Pager()
  /** There is more to read than fits above the question. */
  #overflows = false
  readonly #on = new Set<string>()
  /** The switch that the keys act on; -1: the name. */
  #at = -1

  constructor(danger: ConfirmOptions) {
    this.#danger = danger
    // As it is shown: what cannot be seen cannot be asked for.
    this.#name = escapeControls(danger.plan?.owner ?? nameOfRow(danger.subject)) || 'yes'
    this.title =
      [...danger.operation.path.slice(1), nameOfRow(danger.subject)].join(' ').trim() || danger.operation.name
  }

  draw(area: DrawArea): string[] {
    const { width, height, theme } = area
    const { operation, subject, plan, switches, undo } = this.#danger
    const said =
      operation.meta.confirm ??
      (undo === undefined ? `${operation.meta.summary}.` : `${titleOf(this.title)}? ${operation.meta.summary}.`)
    const consequence = wrap(fillIn(said, { ...this.#danger.input, ...this.#named() }), width - 4)
    const facts = subject === undefined ? [] : pairs(this.#facts(theme), theme)
    const head = ['', ...consequence.map((line) => theme.paint('bad', line)), '']
    const middle = [...facts, ...(facts.length === 0 ? [] : ['']), ...(plan?.draw(theme) ?? [])]
    const tail = [
      ...switches.map((field, position) => this.#switch(field, position, theme)),
      ...(switches.length === 0 ? [] : ['']),
      this.#question(width, theme),
      ...(this.#wrong ? ['', theme.paint('warning', `That does not match ${this.#name}. Nothing was changed.`)] : []),
    ]
    // Whatever there is to read, the question and what it says will happen stay in sight.
    const room = Math.max(0, height - head.length - tail.length)
    this.#overflows = middle.length > room
    const seen = room === 0 ? [] : this.#pager.draw(middle, { ...area, height: room })
    const lines = [...head, ...seen, ...tail]
    const fitted = lines.length > height ? lines.filter((line) => line !== '') : lines
    return fitted.map((line) => clip(`  ${line}`, width))
  }

  #question(width: number, theme: TextTheme): string {
    const { undo } = this.#danger
    if (undo !== undefined) return `${theme.paint('strong', 'Enter')} to confirm. ${undo}`
    const { before, under, after } = windowOf(this.#line, Math.max(10, width - textWidth(this.#name) - 24))
    const name = theme.paint('strong', this.#name)
    return `${theme.paint('quiet', 'Type')} ${name} ${theme.paint('quiet', 'to confirm:')} ${before}${theme.cursor(under)}${after}`
  }

  #switch(field: Field, position: number, theme: TextTheme): string {
    const box = `[${this.#on.has(field.name) ? 'x' : ' '}] ${labelOf(field)}`
    const label = position === this.#at ? `▸ ${theme.paint('strong', box)}` : `  ${box}`
    return `${label}  ${theme.paint('quiet', helpOf(field))}`
  }

  /** The id that the input has means nothing to a person. */
  #named(): object {
    const { operation, subject } = this.#danger
    const field = operation.meta.positional?.at(-1)
    return field === undefined || subject === undefined ? {} : { [field]: this.#name }
  }

  #facts(theme: TextTheme): [string, string][] {
    const show = this.#danger.list?.meta.show
    const columns = show !== undefined && 'columns' in show ? (show.columns ?? []) : []
    return columns
      .filter(({ format }) => format !== 'id')
      .map((column): [string, string] => [lowerTitle(column.title), formatCell(this.#danger.subject, column, theme)])
      .filter(([, value]) => value !== absent)
  }

  hints(): Hint[] {
    const more: Hint[] =
      this.#danger.switches.length === 0
        ? []
        : [
            ['tab', 'options'],
            ['space', 'toggle'],
          ]
    const scroll: Hint[] = this.#overflows ? [['pgup pgdn', 'scroll']] : []
    return [['enter', 'confirm'], ...scroll, ...more, ['esc', 'cancel']]
  }

  paste(text: string): void {
    this.#line = insert(this.#line, text)
  }

  press(press: KeyPress): boolean {
    if (press.name === 'escape') return false
    if (press.name === 'enter') {
      this.#wrong = this.#danger.undo === undefined && this.#line.text.trim() !== this.#name
      if (!this.#wrong) this.#danger.go(Object.fromEntries([...this.#on].map((name) => [name, true])))
      return true
    }
    if (press.name === 'pageup' || press.name === 'pagedown') return this.#pager.press(press)
    if (this.#pressSwitches(press.name)) return true
    this.#line = editLine(this.#line, press) ?? this.#line
    this.#wrong = false
    return true
  }

  #pressSwitches(name: string): boolean {
    const { switches } = this.#danger
    const turns: Record<string, number> = { tab: 1, down: 1, backtab: -1, up: -1 }
    const turn = turns[name]
    if (turn !== undefined) {
      const places = switches.length + 1
      this.#at = ((this.#at + 1 + turn + places) % places) - 1
      return true
    }
    const field = switches[this.#at]
    if (field === undefined) return false
    if (name === ' ' && !this.#on.delete(field.name)) this.#on.add(field.name)
    return true
  }
}

function lowerTitle(title: string): string {
  return title.charAt(0) + title.slice(1).toLowerCase()
}
