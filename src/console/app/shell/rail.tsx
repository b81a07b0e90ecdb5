import { Link } from '@tanstack/react-router'
import { Ellipsis, KeyRound, LayoutDashboard, ListTree, Plug, Settings, SquareTerminal, Waypoints } from 'lucide-react'
import { Menu } from '../parts/menu.tsx'
import { useMayCall } from '../session/session.ts'
import { Brand } from './brand.tsx'
import { keepScope } from './keys.ts'

/** `operation`: the entry is shown only to operators who may call it. */
const items = [
  { to: '/', title: 'Overview', icon: LayoutDashboard, exact: true },
  { to: '/providers', title: 'Providers', icon: Plug, exact: false },
  { to: '/routing', title: 'Routing', icon: Waypoints, exact: false },
  { to: '/keys', title: 'Keys', icon: KeyRound, exact: false },
  { to: '/requests', title: 'Requests', icon: ListTree, exact: false },
  { to: '/playground', title: 'Playground', icon: SquareTerminal, exact: false, operation: 'requests.send' },
  { to: '/settings', title: 'Settings', icon: Settings, exact: false },
] as const

/** At the left; where the window is narrow, a bar at the bottom with the five that are used most. */
export function Rail() {
  const may = useMayCall()
  const offered = items.filter((item) => !('operation' in item) || may(item.operation))
  return (
    <nav className="rail" aria-label="Main">
      <Link to="/" search={keepScope} className="rail-brand" aria-label="spgw, overview">
        <Brand />
        <span>spgw</span>
      </Link>
      <ul className="rail-list">
        {offered.map((item, index) => (
          <li key={item.to} className={index > 4 ? 'rail-late' : ''}>
            <RailLink {...item} />
          </li>
        ))}
        <li className="rail-more">
          <Menu
            label="More pages"
            className="rail-item"
            button={
              <>
                <Ellipsis size={18} aria-hidden="true" />
                <span>More</span>
              </>
            }
          >
            {(close) => (
              <ul className="menu-list" onClick={close} onKeyUp={() => {}}>
                {offered.slice(5).map((item) => (
                  <li key={item.to}>
                    <Link to={item.to} search={keepScope} className="menu-item">
                      <item.icon size={16} aria-hidden="true" />
                      {item.title}
                    </Link>
                  </li>
                ))}
              </ul>
            )}
          </Menu>
        </li>
      </ul>
    </nav>
  )
}

function RailLink({ to, title, icon: Icon, exact }: (typeof items)[number]) {
  return (
    <Link
      to={to}
      search={keepScope}
      className="rail-item"
      activeOptions={{ exact, includeSearch: false }}
      activeProps={{ className: 'rail-item rail-active', 'aria-current': 'page' }}
    >
      <Icon size={18} aria-hidden="true" />
      <span>{title}</span>
    </Link>
  )
}
