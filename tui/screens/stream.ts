import { reportFault } from '../../cli/fault.ts'
import type { Operation } from '../../cli/operation.ts'
import { deriveColumns } from '../../cli/print/record.ts'
import { formatCell, valueAt } from '../../src/admin/contract/show-value.ts'
import { clip } from '../clip.ts'
import type { Host } from '../host.ts'
import type { KeyPress } from '../keys.ts'
import { wrap } from '../lines.ts'
import { Pager } from '../pager.ts'
import { drawCompared } from '../pages/compared.ts'
import type { DrawArea, Hint, Screen } from '../screen.ts'

/** So much of a stream's text is kept. */
const mostCharacters = 100_000
const mostNotes = 200

/** What was started and answers bit by bit: its text as it comes, and what else it says. Leaving ends it. */
export class StreamScreen implements Screen {
  readonly title: string
  readonly #host: Host
  readonly #stop = new AbortController()
  readonly #pager = new Pager()
  #text = ''
  #notes: string[] = []
  #ended: string | null = null
  /** Two requests beside one another. */
  #compared: unknown = null

  constructor(host: Host, operation: Operation, input: object, title: string) {
    this.#host = host
    this.title = title
    void this.#read(operation, input)
  }

  close(): void {
    this.#stop.abort()
  }

  async #read(operation: Operation, input: object): Promise<void> {
    try {
      const rows = await this.#host.link.call(operation, input, this.#stop.signal)
      if (typeof rows !== 'object' || rows === null || !(Symbol.asyncIterator in rows)) return
      for await (const row of rows as AsyncIterable<unknown>) this.#take(row)
      this.#ended = 'Finished.'
    } catch (error) {
      if (this.#stop.signal.aborted) return
      const { cause, hint } = reportFault(error)
      this.#ended = `${cause} ${hint}`
    }
    this.#host.changed()
  }

  #take(row: unknown): void {
    const text = valueAt(row, 'text')
    if (valueAt(row, 'kind') === 'compared') this.#compared = row
    else if (typeof text === 'string') this.#text = (this.#text + text).slice(-mostCharacters)
    else {
      const said = deriveColumns(row).map(
        (column) => `${column.title.toLowerCase()} ${formatCell(row, column, { now: this.#host.now(), utc: false })}`,
      )
      this.#notes = [...this.#notes, said.join(', ')].slice(-mostNotes)
    }
    this.#host.changed()
  }

  draw(area: DrawArea): string[] {
    const { width, theme } = area
    const text = this.#text.split('\n').flatMap((line) => wrap(line, width))
    const notes = this.#notes.map((note) => theme.paint('quiet', clip(note, width)))
    const end = theme.paint('strong', this.#ended ?? 'Running…')
    if (this.#compared !== null) return this.#pager.draw([...drawCompared(this.#compared, area), '', end], area)
    return this.#pager.draw([...(this.#text === '' ? [] : [...text, '']), ...notes, end], area)
  }

  hints(): Hint[] {
    return [
      ['↑↓', 'scroll'],
      ['esc', this.#ended === null ? 'stop' : 'back'],
    ]
  }

  press(press: KeyPress): boolean {
    return this.#pager.press(press)
  }
}
