import { Link } from '@tanstack/react-router'
import { keepScope } from '../../shell/keys.ts'
import { Page } from '../../shell/page.tsx'

export function SettingsPage() {
  return (
    <Page title="Settings">
      <p>
        <Link to="/settings/operations" search={keepScope}>
          All operations
        </Link>
      </p>
    </Page>
  )
}
