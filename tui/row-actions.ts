import type { Operation } from '../cli/operation.ts'
import { valueAt } from '../src/admin/contract/show-value.ts'
import { findVerb, inputForRow, isAboutRow, nameOfRow, verbOf, wordsOf } from './areas.ts'
import type { Host } from './host.ts'
import type { Hint } from './screen.ts'
import { MenuScreen } from './screens/menu.ts'

/** The single key of a verb, wherever a list has rows that it is about. */
const keys: Readonly<Record<string, string>> = {
  check: 'c',
  test: 't',
  explain: 'w',
  traffic: 'T',
  history: 'h',
  usage: 'u',
  rotate: 'n',
  revoke: 'v',
  replay: 'R',
  activate: 'o',
  deactivate: 'o',
  enable: 'o',
  disable: 'o',
}
/** What switches a thing on or off, by the field that says which of the two it is. */
const switches: Readonly<Record<string, { field: string; when: boolean }>> = {
  activate: { field: 'active', when: false },
  deactivate: { field: 'active', when: true },
  enable: { field: 'enabled', when: false },
  disable: { field: 'enabled', when: true },
}

interface RowKey {
  key: string
  operation: Operation
}

/** What can be done with a row of a list: by a key, or from the menu. */
export class RowActions {
  readonly #host: Host
  readonly #list: Operation
  readonly #given: object
  readonly #keys: readonly RowKey[]

  constructor(host: Host, list: Operation, given: object) {
    this.#host = host
    this.#list = list
    this.#given = given
    const area = host.areas.find(({ operations }) => operations.includes(list))
    this.#keys = keysOf(area?.operations ?? [], list)
  }

  hints(row: unknown): Hint[] {
    const menu: Hint = ['m', 'menu']
    if (row === undefined) return [menu]
    const own = this.#keysFor(row).map(({ key, operation }): Hint => [key, wordsOf(operation)])
    const hasTraffic = requestsOf(this.#list, row) !== null
    const requests: Hint[] = hasTraffic ? [['l', 'requests']] : []
    const spend: Hint[] = hasTraffic ? [['$', 'spend']] : []
    const isCommon = ([key]: Hint) => key === 'e' || key === 'x'
    return [...own.filter(isCommon), menu, ...requests, ...own.filter((hint) => !isCommon(hint)), ...spend]
  }

  /** Whether the press meant something to the row. */
  press(name: string, row: unknown): boolean {
    if (name === 'm') return this.#openMenu(row)
    if (name === 'y') return this.#copyId(row)
    if (row === undefined) return false
    if (name === 'l' || name === '$') return this.#showTraffic(name, row)
    const found = this.#keysFor(row).find(({ key }) => key === name)
    if (found === undefined) return false
    const given = inputForRow(found.operation, this.#list, row, this.#given)
    this.#host.open({ operation: found.operation, given, subject: row })
    return true
  }

  /** The requests of the row, or what they cost. */
  #showTraffic(name: 'l' | '$', row: unknown): boolean {
    const filters = requestsOf(this.#list, row)
    if (filters === null) return false
    const label = `${this.#list.path[0]?.replace(/s$/, '') ?? ''} ${nameOfRow(row)}`
    if (name === 'l') this.#host.showRequests(filters, label)
    else this.#host.showSpend(filters, label)
    return true
  }

  #keysFor(row: unknown): RowKey[] {
    return this.#keys.filter(({ operation }) => {
      const state = switches[verbOf(operation)]
      return state === undefined || valueAt(row, state.field) === state.when
    })
  }

  #openMenu(row: unknown): boolean {
    const entries = () => this.#host.entriesOf(this.#list, row, this.#given)
    this.#host.push(new MenuScreen(nameOfRow(row) || 'Menu', entries))
    return true
  }

  #copyId(row: unknown): boolean {
    const id = valueAt(row, 'id')
    if (typeof id === 'string') this.#host.copy(id, 'id')
    return true
  }
}

function keysOf(operations: readonly Operation[], list: Operation): RowKey[] {
  const about = operations.filter((operation) => isAboutRow(operation, list))
  const own = about.filter(({ path }) => path.length === list.path.length)
  const remover = findVerb(operations, list, 'remove')
  return [
    ...own.filter((operation) => verbOf(operation) === 'edit').map((operation) => ({ key: 'e', operation })),
    ...(remover === null ? [] : [{ key: 'x', operation: remover }]),
    ...own.flatMap((operation) => {
      const key = keys[verbOf(operation)]
      return key === undefined || operation === remover ? [] : [{ key, operation }]
    }),
  ]
}

/** The filters that leave the requests of a row; null: it has none of its own. */
function requestsOf(list: Operation, row: unknown): Record<string, unknown> | null {
  const [project, environment] = [valueAt(row, 'project'), valueAt(row, 'environment')]
  const scope = { ...(isText(project) ? { project } : {}), ...(isText(environment) ? { environment } : {}) }
  switch (list.name) {
    case 'providers.list':
      return { provider: valueAt(row, 'name') }
    case 'routes.list':
      return { ...scope, route: valueAt(row, 'model') }
    case 'keys.list':
      return { key: valueAt(row, 'id') }
    case 'projects.list':
      return { project: valueAt(row, 'name') }
    case 'environments.list':
      return { ...scope, environment: valueAt(row, 'name') }
    default:
      return null
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}
