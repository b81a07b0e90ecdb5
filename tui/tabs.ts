import { areaSummaries } from '../cli/area-summaries.ts'
import type { Operation } from '../cli/operation.ts'
import { type Area, titleOf, wordsOf } from './areas.ts'
import type { Host, MenuEntry } from './host.ts'
import { scopeInput } from './scope.ts'
import type { Screen } from './screen.ts'
import { ListScreen } from './screens/list.ts'
import { LiveScreen } from './screens/live.ts'
import { MenuScreen } from './screens/menu.ts'
import { OverviewScreen } from './screens/overview.ts'

/** The areas with a tab of their own; every other one is behind `More`. */
const prominent = [
  { area: 'providers', title: 'Providers' },
  { area: 'routes', title: 'Routing' },
  { area: 'keys', title: 'Keys' },
  { area: 'requests', title: 'Requests' },
] as const

/** A place of the first row, with a screen that is always there. */
export class ScreenTab {
  readonly key: string
  readonly title: string
  /** The noun that it shows; null: none. */
  readonly area: string | null
  readonly #make: () => Screen
  #screen: Screen | null = null

  constructor(key: string, title: string, area: string | null, make: () => Screen) {
    this.key = key
    this.title = title
    this.area = area
    this.#make = make
  }

  get screen(): Screen {
    this.#screen ??= this.#make()
    return this.#screen
  }

  /** The scope is another: what was asked of the old one is forgotten. */
  renew(): void {
    this.#screen?.hide?.()
    this.#screen = null
  }
}

export function makeTabs(host: Host): ScreenTab[] {
  const areas = prominent.flatMap(({ area: name, title }) => {
    const area = host.areas.find((known) => known.name === name)
    return area === undefined ? [] : [{ title, area: name, make: () => areaScreen(host, area, title) }]
  })
  const all = [
    { title: 'Overview', area: null, make: () => new OverviewScreen(host) },
    ...areas,
    { title: 'More', area: null, make: () => new MenuScreen('More', () => moreEntries(host), { isDialog: false }) },
  ]
  return all.map(({ title, area, make }, index) => new ScreenTab(String(index + 1), title, area, make))
}

/** A noun whose things come by themselves is shown live; one with a list as that; any other as what it can do. */
function areaScreen(host: Host, area: Area, title: string): Screen {
  const tail = area.operations.find(isTail)
  if (tail !== undefined) return new LiveScreen(host, tail, title)
  if (area.list !== null) return new ListScreen(host, area.list, scopeInput(area.list, host.scope), title)
  return new MenuScreen(title, () => operationEntries(host, area.operations), { isDialog: false })
}

/** A noun that has no tab of its own. */
export function screenOfArea(host: Host, area: Area): Screen {
  return areaScreen(host, area, titleOf(area.name))
}

function isTail({ meta, path }: Operation): boolean {
  return meta.show.as === 'live' && meta.effect === 'read' && path.length > 1
}

/** By the contract: a noun that it learns stands here without anybody's doing. */
export function moreEntries(host: Host): MenuEntry[] {
  const spend = {
    label: 'Spend',
    detail: 'What was spent, by project, key and model',
    run: () => host.showSpend({}, ''),
  }
  const areas = host.areas
    .filter(({ name }) => !prominent.some(({ area }) => area === name))
    .map((area) => ({
      label: titleOf(area.name),
      // What it is for says more than what can be done, which its own screen lists.
      detail: areaSummaries[area.name] ?? area.operations.map(wordsOf).join(', '),
      run: () => host.push(screenOfArea(host, area)),
    }))
  return [...areas, spend]
}

function operationEntries(host: Host, operations: readonly Operation[]): MenuEntry[] {
  return operations.map((operation) => ({
    label: wordsOf(operation),
    detail: operation.meta.summary,
    run: () => host.open({ operation, given: {} }),
  }))
}
