import type { Field, GatewayClient, Operation } from '../cli/operation.ts'
import type { Tone } from '../src/admin/contract/show-value.ts'
import { type Area, aboutList, deriveAreas, inputForRow, isAboutRow, wordsOf } from './areas.ts'
import { CommandLine } from './command-line.ts'
import { makeCommands, type Places } from './commands.ts'
import { GatewayLink, type LinkState } from './gateway-link.ts'
import type { Host, MenuEntry, OperationRequest, ReadFiles, Save } from './host.ts'
import type { KeyPress } from './keys.ts'
import { KnownNames, type NameScope } from './known-names.ts'
import { runOperation } from './run-operation.ts'
import type { ViewScope } from './scope.ts'
import type { Screen } from './screen.ts'
import { HelpScreen } from './screens/help.ts'
import { openScopes } from './screens/scopes.ts'
import { SpendScreen } from './screens/spend.ts'
import { StatusWatch } from './status-watch.ts'
import { makeTabs, type ScreenTab, screenOfArea } from './tabs.ts'

export interface TuiSessionParts {
  operations: readonly Operation[]
  connect(): Promise<GatewayClient>
  scope: ViewScope
  now(): number
  /** Puts text on the clipboard of the terminal. */
  copy(text: string): void
  /** Writes a stream of the gateway into a file here. */
  save: Save
  readFiles: ReadFiles
}

export interface StatusNotice {
  tone: Tone
  text: string
}

/** At most so many redraws a second for what the gateway tells; a press is answered at once. */
const redrawMs = 100

/** All that the terminal shows, without the terminal: tabs, what is open in each, the gateway behind. */
export class TuiSession implements Host {
  readonly operations: readonly Operation[]
  readonly areas: readonly Area[]
  readonly link: GatewayLink
  readonly statusWatch: StatusWatch
  readonly tabs: readonly ScreenTab[]
  readonly save: Save
  readonly readFiles: ReadFiles
  scope: ViewScope
  notice: StatusNotice | null = null
  readonly commandLine = new CommandLine()
  /** Rises with every change: what draws knows by it that it has to. */
  version = 0
  #tab = 0
  /** Above the tab's own screen. */
  #stack: Screen[] = []
  readonly #known: KnownNames
  readonly #parts: TuiSessionParts
  readonly #listeners = new Set<() => void>()
  #redraw: NodeJS.Timeout | undefined
  #quit: () => void = () => {}

  constructor(parts: TuiSessionParts) {
    this.#parts = parts
    this.operations = parts.operations
    this.scope = parts.scope
    this.save = parts.save
    this.readFiles = parts.readFiles
    this.areas = deriveAreas(parts.operations)
    this.link = new GatewayLink(parts.connect, (state, before) => this.#onLinkState(state, before))
    this.statusWatch = new StatusWatch(this.link, parts.operations, (what) => this.#onStatusChange(what))
    this.#known = new KnownNames(this.areas, this.link, () => this.changed())
    this.tabs = makeTabs(this)
  }

  start(quit: () => void): void {
    this.#quit = quit
    this.statusWatch.start()
    this.screen.show?.()
  }

  stop(): void {
    clearTimeout(this.#redraw)
    this.statusWatch.stop()
    this.screen.hide?.()
    this.link.close()
  }

  get status(): unknown {
    return this.statusWatch.status
  }

  get tab(): number {
    return this.#tab
  }

  get screen(): Screen {
    const screen = this.#stack.at(-1) ?? this.tabs[this.#tab]?.screen
    if (screen === undefined) throw new Error('There is no tab.')
    return screen
  }

  /** From the tab to what is in sight. */
  get trail(): string[] {
    return [
      ...(this.#stack.length === 0 ? [] : [this.tabs[this.#tab]?.title ?? '']),
      ...this.#stack.map(({ title }) => title),
    ]
  }

  now(): number {
    return this.#parts.now()
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  changed(): void {
    this.#redraw ??= setTimeout(() => this.#draw(), redrawMs)
  }

  #draw(): void {
    clearTimeout(this.#redraw)
    this.#redraw = undefined
    this.version++
    for (const listener of this.#listeners) listener()
  }

  #onLinkState(state: LinkState, before: LinkState): void {
    if (state.kind === 'live' && before.kind === 'absent') this.screen.refresh?.()
    this.changed()
  }

  #onStatusChange(what: 'status' | 'configuration'): void {
    if (what === 'configuration') this.screen.refresh?.()
    this.changed()
  }

  press(press: KeyPress): void {
    this.notice = null
    if (this.commandLine.isOpen) {
      const problem = this.commandLine.press(press)
      if (problem !== null) this.notify('bad', problem)
    } else if (!this.screen.press(press)) this.#command(press.name)
    this.#draw()
  }

  paste(text: string): void {
    if (this.commandLine.isOpen) this.commandLine.paste(text)
    else this.screen.paste?.(text)
    this.#draw()
  }

  #command(name: string): void {
    if (name === 'escape' && this.#stack.length > 0) return this.pop()
    if (this.screen.typing === true) return
    const tab = this.tabs.findIndex(({ key }) => key === name)
    if (tab >= 0) this.go(tab)
    else if (name === 'tab') this.go((this.#tab + 1) % this.tabs.length)
    else if (name === 'backtab') this.go((this.#tab + this.tabs.length - 1) % this.tabs.length)
    else if (name === '?') this.push(new HelpScreen(this.screen))
    else if (name === ':') this.commandLine.open(makeCommands(this, this.#places()))
    else if (name === 's') this.push(openScopes(this, (scope) => this.#setScope(scope)))
    else if (name === '$') this.showSpend({}, '')
    else if (name === '/') this.#search()
    else if (name === 'q') this.#quit()
  }

  /** Where nothing is there to filter, what is looked for is a request. */
  #search(): void {
    const requests = this.tabs.findIndex(({ title }) => title === 'Requests')
    if (requests < 0) return
    this.go(requests)
    this.screen.press({ name: '/', text: '/' })
  }

  #places(): Places {
    return {
      titles: this.tabs.map(({ title }) => title),
      goTo: (name) => this.#goTo(name),
      setScope: (scope) => this.#setScope(scope),
      help: () => this.push(new HelpScreen(this.screen)),
      quit: () => this.#quit(),
    }
  }

  /** A tab by its title or its noun; any other noun behind `More`. */
  #goTo(name: string): void {
    const tab = this.tabs.findIndex(({ title, area }) => area === name || title.toLowerCase() === name)
    if (tab >= 0) return this.go(tab)
    if (name === 'spend') return this.#goToSpend()
    const area = this.areas.find((known) => known.name === name)
    if (area === undefined) return
    this.go(this.tabs.length - 1)
    this.push(screenOfArea(this, area))
  }

  #goToSpend(): void {
    this.go(this.tabs.length - 1)
    this.showSpend({}, '')
  }

  showRequests(filters: Record<string, unknown>, label: string): void {
    this.#goTo('requests')
    this.screen.filterBy?.(filters, label)
  }

  showSpend(filters: Record<string, unknown>, label: string): void {
    this.push(new SpendScreen(this, { filters, label }))
  }

  go(tab: number): void {
    this.#leave()
    this.#tab = tab
    this.screen.show?.()
  }

  #setScope(scope: ViewScope): void {
    this.#leave()
    this.scope = scope
    this.tabs[this.#tab]?.screen.hide?.()
    for (const tab of this.tabs) tab.renew()
    this.screen.show?.()
  }

  namesFor(field: Pick<Field, 'name'>, scope?: NameScope): readonly string[] {
    return this.#known.of(field, this.now(), scope)
  }

  entriesOf(list: Operation, row: unknown, given: object): MenuEntry[] {
    const area = this.areas.find(({ operations }) => operations.includes(list))
    const others = area?.operations.filter((operation) => operation !== list) ?? []
    const about = others.filter((operation) => isAboutRow(operation, list))
    const rest = others.filter((operation) => !about.includes(operation))
    return [...about, ...rest].map((operation) => ({
      label: wordsOf(operation),
      detail: operation.meta.summary,
      run: () => this.open(requestFor(operation, list, about.includes(operation) ? row : undefined, given)),
    }))
  }

  open(request: OperationRequest): void {
    runOperation(this, request)
  }

  push(screen: Screen): void {
    this.screen.hide?.()
    this.#stack.push(screen)
    this.screen.show?.()
    this.changed()
  }

  pop(): void {
    this.#close(this.#stack.pop())
    this.screen.show?.()
    this.changed()
  }

  #close(screen: Screen | undefined): void {
    screen?.hide?.()
    screen?.close?.()
  }

  /** Whatever stands above the tab is left. */
  #leave(): void {
    this.screen.hide?.()
    for (const screen of this.#stack) this.#close(screen)
    this.#stack = []
  }

  closeDialogs(): void {
    while (this.#stack.at(-1)?.isDialog === true) this.#close(this.#stack.pop())
    this.screen.show?.()
  }

  notify(tone: Tone, text: string): void {
    this.notice = text === '' ? null : { tone, text }
    this.changed()
  }

  refresh(): void {
    this.screen.refresh?.()
  }

  copy(text: string, what: string): void {
    this.#parts.copy(text)
    this.notify('good', `Copied ${what}, if the terminal supports that (OSC 52).`)
  }
}

function requestFor(operation: Operation, list: Operation, row: unknown, given: object): OperationRequest {
  if (row !== undefined) return { operation, given: inputForRow(operation, list, row, given), subject: row }
  return { operation, given: aboutList(list, given) }
}
