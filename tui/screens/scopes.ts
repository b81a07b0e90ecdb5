import { escapeControls, valueAt } from '../../src/admin/contract/show-value.ts'
import { nameOfRow } from '../areas.ts'
import type { Host, MenuEntry } from '../host.ts'
import { PolledAnswer } from '../polled-answer.ts'
import { describeScope, everything, type ViewScope } from '../scope.ts'
import type { Screen } from '../screen.ts'
import { MenuScreen } from './menu.ts'

/** Which projects and environments to look at. */
export function openScopes(host: Host, choose: (scope: ViewScope) => void): Screen {
  const operation = host.operations.find(({ name }) => name === 'environments.list')
  const loaded = operation === undefined ? null : new PolledAnswer(host, operation, { all: true })
  const entryFor = (scope: ViewScope, detail: string): MenuEntry => {
    const label = escapeControls(describeScope(scope))
    const isCurrent = label === escapeControls(describeScope(host.scope))
    return { label, detail: isCurrent ? 'current' : detail, run: () => choose(scope) }
  }
  const menu = new MenuScreen('Project and environment', () => {
    const rows: readonly unknown[] = Array.isArray(loaded?.data) ? loaded.data : []
    const projects = [...new Set(rows.map((row) => String(valueAt(row, 'project'))))]
    return [
      entryFor(everything, 'every project and environment'),
      ...projects.flatMap((project) => [
        entryFor({ project, environment: null }, 'all its environments'),
        ...rows
          .filter((row) => valueAt(row, 'project') === project)
          .map((row) => entryFor({ project, environment: nameOfRow(row) }, '')),
      ]),
    ]
  })
  return Object.assign(menu, { show: () => loaded?.start(), hide: () => loaded?.stop() })
}
