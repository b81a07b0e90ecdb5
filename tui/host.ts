import type { FileName } from '../cli/file-name.ts'
import type { Field, Operation } from '../cli/operation.ts'
import type { Tone } from '../src/admin/contract/show-value.ts'
import type { Area } from './areas.ts'
import type { GatewayLink } from './gateway-link.ts'
import type { NameScope } from './known-names.ts'
import type { ViewScope } from './scope.ts'
import type { Screen } from './screen.ts'

/** An operation that somebody wants. */
export interface OperationRequest {
  operation: Operation
  /** What is known of its input, and is not asked. */
  given: object
  /** The thing that it is about, as a list or `show` gave it. */
  subject?: unknown
}

/** Writes a stream of the gateway into a file here; gives what was written. `path` null: a name of its own. */
export type Save = (
  name: FileName,
  path: string | null,
  start: (signal: AbortSignal) => Promise<AsyncIterable<unknown>>,
) => Promise<object>

/** Files of this machine, in the fields that operations take them in. */
export type ReadFiles = (paths: readonly string[]) => Promise<{ files: Record<string, string> }>

/** Something that can be chosen. */
export interface MenuEntry {
  label: string
  detail: string
  run(): void
}

/** What screens can ask of the whole. */
export interface Host {
  readonly operations: readonly Operation[]
  readonly areas: readonly Area[]
  readonly link: GatewayLink
  readonly scope: ViewScope
  readonly save: Save
  readonly readFiles: ReadFiles
  /** What `status` answers, as fresh as it gets; undefined: nothing came yet. */
  readonly status: unknown
  now(): number
  /** Names that a field may take, as far as the gateway told; asks it when it has not been asked. */
  namesFor(field: Pick<Field, 'name'>, scope?: NameScope): readonly string[]
  /** Everything that a list's noun can do: with the row first, then without one. */
  entriesOf(list: Operation, row: unknown, given: object): MenuEntry[]
  /** Goes where the operation leads: a list, a form, a question, or right to its result. */
  open(request: OperationRequest): void
  /** What is in sight. */
  readonly screen: Screen
  push(screen: Screen): void
  pop(): void
  /** Takes away what was only on the way to something: forms, questions, menus. */
  closeDialogs(): void
  /** One line until the next press; '' takes it away. */
  notify(tone: Tone, text: string): void
  /** Draw again, soon. */
  changed(): void
  /** Shows what the filters leave cost; `label` says whose that is. */
  showSpend(filters: Record<string, unknown>, label: string): void
  /** Shows the requests that the filters leave; `label` says whose they are. */
  showRequests(filters: Record<string, unknown>, label: string): void
  /** The configuration was changed here. */
  refresh(): void
  /** To the clipboard of the terminal. */
  copy(text: string, what: string): void
}
