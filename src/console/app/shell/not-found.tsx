import { Link } from '@tanstack/react-router'
import { Search } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../parts/button.tsx'
import { Empty } from '../parts/empty.tsx'
import { keepScope } from './keys.ts'
import { Page } from './page.tsx'
import { openPalette } from './palette-state.ts'

/** An address that leads to no page; what surrounds every page stays. */
export function NotFoundPage() {
  // The address as it was: the page stays for a moment when it is left.
  const [path] = useState(() => decodePath(location.pathname))
  const last = path.split('/').at(-1) ?? ''
  return (
    <Page title="Page not found">
      <Empty
        title="This address leads to no page"
        action={
          <>
            <Button variant="primary" icon={<Search size={16} aria-hidden="true" />} onClick={() => openPalette(last)}>
              Search for “{last}”
            </Button>
            <Link className="button button-plain" to="/" search={keepScope}>
              Go to Overview
            </Link>
          </>
        }
      >
        <code className="breakable">{path}</code>
      </Empty>
    </Page>
  )
}

function decodePath(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}
