import { reportFault } from '../../cli/fault.ts'
import type { Operation } from '../../cli/operation.ts'
import { valueAt } from '../../src/admin/contract/show-value.ts'
import { nameOfRow } from '../areas.ts'
import { clip } from '../clip.ts'
import type { Host, OperationRequest } from '../host.ts'
import type { KeyPress } from '../keys.ts'
import { wrap } from '../lines.ts'
import { Pager } from '../pager.ts'
import { limitedPage } from '../pages/limits.ts'
import type { RecordPage } from '../pages/page.ts'
import { providerPage } from '../pages/provider.ts'
import { routePage } from '../pages/route.ts'
import { PolledAnswer } from '../polled-answer.ts'
import { resultLines } from '../result-lines.ts'
import type { RowActions } from '../row-actions.ts'
import type { DrawArea, Hint, Screen } from '../screen.ts'

/** Things that are drawn; of any other, the fields are listed. */
const pages: Readonly<Record<string, RecordPage>> = {
  'providers.show': providerPage,
  'routes.show': routePage,
  ...Object.fromEntries(['keys.show', 'policies.show', 'projects.show'].map((name) => [name, limitedPage(name)])),
}

/** One answer, to be read. Asked for again while it is looked at, unless it is the result of something done. */
export class RecordScreen implements Screen {
  readonly title: string
  readonly #host: Host
  readonly #loaded: PolledAnswer
  readonly #pager = new Pager()
  readonly #actions: RowActions | null
  readonly #page: RecordPage | null
  /** What the page shows besides, by operation. */
  #asked: PolledAnswer[] | null = null
  readonly #live: boolean

  constructor(
    host: Host,
    request: OperationRequest,
    options: { output?: unknown; first?: unknown; actions?: RowActions | null } = {},
  ) {
    this.#host = host
    this.#loaded = new PolledAnswer(host, request.operation, request.given, {
      took: () => {
        for (const one of this.#questions()) one.start()
      },
    })
    this.#actions = options.actions ?? null
    this.#page = pages[request.operation.name] ?? null
    this.#live = options.output === undefined
    this.#loaded.data = options.output ?? options.first
    this.title = nameOfRow(request.subject) || nameOfRow(request.given) || request.operation.path.join(' ')
  }

  get data(): unknown {
    return this.#loaded.data
  }

  show(): void {
    if (this.#live) this.#loaded.start()
    for (const one of this.#questions()) one.start()
  }

  hide(): void {
    this.#loaded.stop()
    for (const one of this.#asked ?? []) one.stop()
  }

  refresh(): void {
    this.#loaded.reload()
    for (const one of this.#asked ?? []) one.reload()
  }

  /** They depend on the thing, so they are known once it is. */
  #questions(): readonly PolledAnswer[] {
    const { data } = this.#loaded
    if (this.#page === null || data === undefined) return []
    this.#asked ??= this.#page.questions(data).flatMap(({ operation: name, input }) => {
      const operation = this.#host.operations.find((known) => known.name === name)
      return operation === undefined ? [] : [new PolledAnswer(this.#host, operation, input)]
    })
    return this.#asked
  }

  draw(area: DrawArea): string[] {
    const { data, report, operation } = this.#loaded
    if (data === undefined && report !== null) {
      return [area.theme.paint('bad', report.cause), ...wrap(report.hint, area.width)]
    }
    if (data === undefined) return [area.theme.paint('quiet', 'Loading…')]
    const old = report === null ? [] : wrap(`Out of date: ${report.cause}`, area.width)
    const lines = old.map((line) => area.theme.paint('warning', line))
    return this.#pager.draw([...lines, ...this.#drawData(operation, data, area)], area)
  }

  #drawData(operation: Operation, data: unknown, area: DrawArea): string[] {
    if (this.#page === null) return resultLines(operation, data, area.width, area.theme)
    const answers = new Map(this.#questions().map((one) => [one.operation.name, one.data]))
    return this.#page.draw(data, answers, area).map((line) => clip(line, area.width))
  }

  hints(): Hint[] {
    const bodies: Hint[] = this.#mayHaveBodies() ? [['b', 'bodies']] : []
    const actions = this.#actions?.hints(this.#loaded.data) ?? []
    const copy: Hint[] = this.#actions === null ? [] : [['y', 'copy ID']]
    return [['↑↓', 'scroll'], ['esc', 'back'], ...bodies, ...actions, ...copy]
  }

  press(press: KeyPress): boolean {
    if (this.#pager.press(press)) return true
    if (press.name === 'b' && this.#mayHaveBodies()) return this.#showBodies()
    const subject = this.#loaded.data
    return subject !== undefined && this.#actions?.press(press.name === 'enter' ? 'm' : press.name, subject) === true
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
}
