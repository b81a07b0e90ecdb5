import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Check, ChevronsUpDown } from 'lucide-react'
import { escapeControls } from '../../../admin/contract/show-value.ts'
import { orpc } from '../client/admin.ts'
import { Menu } from '../parts/menu.tsx'
import { type ScopeSearch, useScope } from '../session/scope.ts'

/** Chooses the project and environment that the pages show. They are part of the address. */
export function ScopeSwitch() {
  const scope = useScope()
  const navigate = useNavigate()
  const choose = (next: ScopeSearch, close: () => void) => {
    close()
    void navigate({
      to: '.',
      search: ({ project: _project, environment: _environment, ...rest }: ScopeSearch) => ({ ...rest, ...next }),
    })
  }
  const said = [scope.project ?? 'All projects', scope.environment].filter((word) => word !== undefined).join(' / ')
  return (
    <Menu
      label={`Project and environment: ${escapeControls(said)}`}
      align="start"
      className="button button-quiet scope-button"
      button={
        <>
          <bdi className="truncate">{escapeControls(said)}</bdi>
          <ChevronsUpDown size={14} aria-hidden="true" />
        </>
      }
    >
      {(close) => <ScopeList onChoose={(next) => choose(next, close)} />}
    </Menu>
  )
}

function ScopeList({ onChoose }: { onChoose(scope: ScopeSearch): void }) {
  const scope = useScope()
  const { data = [] } = useQuery(orpc.projects.list.queryOptions({ input: {} }))
  const options: { title: string; inner: boolean; scope: ScopeSearch }[] = [
    { title: 'All projects', inner: false, scope: {} },
    ...data.flatMap(({ name, environments }) => [
      { title: name, inner: false, scope: { project: name } },
      ...environments.map((environment) => ({
        title: environment,
        inner: true,
        scope: { project: name, environment },
      })),
    ]),
  ]
  return (
    <ul className="menu-list">
      {options.map((option) => {
        const chosen = option.scope.project === scope.project && option.scope.environment === scope.environment
        return (
          <li key={`${option.scope.project}/${option.scope.environment}`}>
            <button
              type="button"
              className={`menu-item${option.inner ? ' menu-inner' : ''}`}
              aria-current={chosen || undefined}
              onClick={() => onChoose(option.scope)}
            >
              <span className="menu-check">{chosen ? <Check size={14} aria-hidden="true" /> : null}</span>
              <bdi className="truncate">{escapeControls(option.title)}</bdi>
            </button>
          </li>
        )
      })}
    </ul>
  )
}
