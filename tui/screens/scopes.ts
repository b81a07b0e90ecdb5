import { valueAt } from '../../src/admin/contract/show-value.ts'
import { nameOfRow } from '../areas.ts'
import type { Host, MenuEntry, ViewScope } from '../host.ts'
import { PolledAnswer } from '../polled-answer.ts'
import type { Screen } from '../screen.ts'
import { MenuScreen } from './menu.ts'

/** Which project and environment to look at. */
export function openScopes(host: Host, choose: (scope: ViewScope) => void): Screen {
  const operation = host.operations.find(({ name }) => name === 'environments.list')
  const everything: MenuEntry = {
    label: 'all',
    detail: 'Every project and environment',
    run: () => choose({ ...host.scope, all: true }),
  }
  const loaded = operation === undefined ? null : new PolledAnswer(host, operation, { all: true })
  const menu = new MenuScreen('Project and environment', () => {
    const rows: readonly unknown[] = Array.isArray(loaded?.data) ? loaded.data : []
    const named = rows.map((row): MenuEntry => {
      const project = String(valueAt(row, 'project'))
      const environment = nameOfRow(row)
      const here = !host.scope.all && project === host.scope.project && environment === host.scope.environment
      return {
        label: `${project}/${environment}`,
        detail: here ? 'current' : '',
        run: () => choose({ project, environment, all: false }),
      }
    })
    return [...named, everything]
  })
  return Object.assign(menu, { show: () => loaded?.start(), hide: () => loaded?.stop() })
}
