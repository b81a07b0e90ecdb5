import { Link } from '@tanstack/react-router'
import { CircleUser } from 'lucide-react'
import { useState } from 'react'
import { escapeControls } from '../../../admin/contract/show-value.ts'
import { Menu } from '../parts/menu.tsx'
import { toastFault } from '../parts/toast-store.ts'
import { signOut, useRoles, useSession } from '../session/session.ts'
import { applyTheme, readTheme, type Theme } from '../session/theme.ts'
import { keepScope } from './keys.ts'

export function AccountMenu({ onShowKeys }: { onShowKeys(): void }) {
  const { data } = useSession()
  const roles = useRoles()
  const operator = data?.operator
  return (
    <Menu
      label="Account"
      className="button button-quiet icon-button"
      button={<CircleUser size={18} aria-hidden="true" />}
    >
      {(close) => (
        <div className="account-menu">
          <div className="menu-about">
            <p className="truncate">
              <b>{escapeControls(operator?.display_name ?? operator?.name ?? '')}</b>
            </p>
            <p className="small quiet">
              {escapeControls(roles)} · spgw {data?.version}
            </p>
          </div>
          <ul className="menu-list">
            <li>
              <Link to="/account" search={keepScope} className="menu-item" onClick={close}>
                Account
              </Link>
            </li>
            <li>
              <button
                type="button"
                className="menu-item"
                onClick={() => {
                  close()
                  onShowKeys()
                }}
              >
                Keyboard shortcuts <kbd>?</kbd>
              </button>
            </li>
          </ul>
          <ThemeChoice />
          <ul className="menu-list">
            <li>
              <button type="button" className="menu-item" onClick={() => void signOut().catch(toastFault)}>
                Sign out
              </button>
            </li>
          </ul>
        </div>
      )}
    </Menu>
  )
}

const themes: { theme: Theme; title: string }[] = [
  { theme: 'system', title: 'System' },
  { theme: 'light', title: 'Light' },
  { theme: 'dark', title: 'Dark' },
]

function ThemeChoice() {
  const [chosen, setChosen] = useState(readTheme)
  return (
    <fieldset className="segments menu-theme">
      <legend className="visually-hidden">Theme</legend>
      {themes.map(({ theme, title }) => (
        <label key={theme} className="segment">
          <input
            type="radio"
            name="theme"
            checked={theme === chosen}
            onChange={() => {
              applyTheme(theme)
              setChosen(theme)
            }}
          />
          <span>{title}</span>
        </label>
      ))}
    </fieldset>
  )
}
