import { reportFault } from '../../cli/fault.ts'
import type { Operation } from '../../cli/operation.ts'
import { valueAt } from '../../src/admin/contract/show-value.ts'
import { findVerb, nameOfRow } from '../areas.ts'
import type { Host, OperationRequest } from '../host.ts'
import type { KeyPress } from '../keys.ts'
import { wrap } from '../lines.ts'
import { Pager } from '../pager.ts'
import { PolledAnswer } from '../polled-answer.ts'
import { resultLines } from '../result-lines.ts'
import type { DrawArea, Hint, Screen } from '../screen.ts'

/** What a record can be acted on with: as in the list that it is from. */
export interface RecordActions {
  list: Operation
  /** Opens the menu of what can be done with it. */
  menu(subject: unknown): void
  act(verb: 'edit' | 'remove', subject: unknown): void
}

/** One answer, to be read. Asked for again while it is looked at, unless it is the result of something done. */
export class RecordScreen implements Screen {
  readonly title: string
  readonly #host: Host
  readonly #loaded: PolledAnswer
  readonly #pager = new Pager()
  readonly #handles: RecordActions | null
  readonly #live: boolean

  constructor(
    host: Host,
    request: OperationRequest,
    options: { output?: unknown; first?: unknown; handles?: RecordActions | null } = {},
  ) {
    this.#host = host
    this.#loaded = new PolledAnswer(host, request.operation, request.given)
    this.#handles = options.handles ?? null
    this.#live = options.output === undefined
    this.#loaded.data = options.output ?? options.first
    this.title = nameOfRow(request.subject) || nameOfRow(request.given) || request.operation.path.join(' ')
  }

  get data(): unknown {
    return this.#loaded.data
  }

  show(): void {
    if (this.#live) this.#loaded.start()
  }

  hide(): void {
    this.#loaded.stop()
  }

  refresh(): void {
    this.#loaded.reload()
  }

  draw(area: DrawArea): string[] {
    const { data, report, operation } = this.#loaded
    if (data === undefined && report !== null) {
      return [area.theme.paint('bad', report.cause), ...wrap(report.hint, area.width)]
    }
    if (data === undefined) return [area.theme.paint('quiet', 'Loading…')]
    return this.#pager.draw(resultLines(operation, data, area.width, area.theme), area)
  }

  hints(): Hint[] {
    const handles = this.#handles
    const bodies: Hint[] = this.#mayHaveBodies() ? [['b', 'bodies']] : []
    if (handles === null) return [['↑↓', 'scroll'], ...bodies, ['esc', 'back']]
    const verbs: Hint[] = []
    if (findVerb(this.#host.operations, handles.list, 'edit') !== null) verbs.push(['e', 'edit'])
    if (findVerb(this.#host.operations, handles.list, 'remove') !== null) verbs.push(['x', 'remove'])
    return [['↑↓', 'scroll'], ['m', 'menu'], ...verbs, ...bodies, ['y', 'copy id'], ['esc', 'back']]
  }

  press(press: KeyPress): boolean {
    if (this.#pager.press(press)) return true
    if (press.name === 'y') return this.#copyId()
    if (press.name === 'b' && this.#mayHaveBodies()) return this.#showBodies()
    const handles = this.#handles
    const subject = this.#loaded.data
    if (handles === null || subject === undefined) return false
    if (press.name === 'm' || press.name === 'enter') handles.menu(subject)
    else if (press.name === 'e') handles.act('edit', subject)
    else if (press.name === 'x') handles.act('remove', subject)
    else return false
    return true
  }

  #mayHaveBodies(): boolean {
    const { operation, data } = this.#loaded
    const asks = operation.fields.some(({ name }) => name === 'bodies')
    return asks && typeof valueAt(data, 'id') === 'string' && valueAt(data, 'bodies') === undefined
  }

  /** Asked for once, by whoever wants to see them: each reading is audited. */
  #showBodies(): boolean {
    const { operation, data } = this.#loaded
    const given = { id: valueAt(data, 'id'), bodies: true }
    this.#host.link.call(operation, given).then(
      (output) => this.#host.push(new RecordScreen(this.#host, { operation, given, subject: data }, { output })),
      (error: unknown) => {
        const { cause, hint } = reportFault(error)
        this.#host.notify('bad', `${cause} ${hint}`)
      },
    )
    return true
  }

  #copyId(): boolean {
    const { data } = this.#loaded
    const id = typeof data === 'object' && data !== null ? Reflect.get(data, 'id') : undefined
    if (typeof id === 'string') this.#host.copy(id, 'id')
    return true
  }
}
