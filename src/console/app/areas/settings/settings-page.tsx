import { Link, useParams } from '@tanstack/react-router'
import { Suspense, useEffect, useRef } from 'react'
import { Empty } from '../../parts/index.ts'
import { useMayCall } from '../../session/session.ts'
import { keepScope } from '../../shell/keys.ts'
import { Loading, Page } from '../../shell/page.tsx'
import { type SettingsSection, sections } from './sections.ts'

export function SettingsPage() {
  const { section: word } = useParams({ strict: false })
  const chosen = sections.find((section) => section.word === word)
  const offered = useOffered(chosen)
  const nav = useChosenInView(word)
  if (word === undefined) return <Contents />
  const title = chosen?.title ?? 'Settings'
  const above = (
    <Link to="/settings" search={keepScope}>
      Settings
    </Link>
  )
  return (
    <Page title={title} above={above}>
      <div className="settings">
        <nav className="settings-nav" aria-label="Settings" ref={nav}>
          <ul>
            {sections.map((section) => (
              <NavItem key={section.word} section={section} />
            ))}
            <li>
              <Link to="/settings/operations" search={keepScope} className="settings-link">
                All operations
              </Link>
            </li>
          </ul>
        </nav>
        <div className="settings-body stack">
          {chosen === undefined ? (
            <Empty title="Page not found" />
          ) : !offered ? (
            <Empty title="Your role does not allow this">Ask an owner for access.</Empty>
          ) : (
            <Suspense fallback={<Loading />}>
              <chosen.View />
            </Suspense>
          )}
        </div>
      </div>
    </Page>
  )
}

/** Where there is little room the sections are a line that scrolls. */
function useChosenInView(word: string | undefined) {
  const nav = useRef<HTMLElement>(null)
  useEffect(() => {
    const chosen = word === undefined ? null : nav.current?.querySelector<HTMLElement>('[aria-current="page"]')
    if (chosen)
      nav.current?.scrollTo({ left: chosen.offsetLeft - nav.current.clientWidth / 2 + chosen.clientWidth / 2 })
  }, [word])
  return nav
}

/** What the contract does not have yet, and what one may not do, is not offered. */
function useOffered(section: SettingsSection | undefined): boolean {
  const may = useMayCall()
  return section !== undefined && may(section.operation)
}

function NavItem({ section }: { section: SettingsSection }) {
  if (!useOffered(section)) return null
  return (
    <li>
      <Link
        to="/settings/$section"
        params={{ section: section.word }}
        search={keepScope}
        className="settings-link"
        activeProps={{ className: 'settings-link settings-active', 'aria-current': 'page' }}
        activeOptions={{ includeSearch: false }}
      >
        {section.title}
      </Link>
    </li>
  )
}

function Contents() {
  return (
    <Page title="Settings">
      <ul className="cards">
        {sections.map((section) => (
          <ContentsCard key={section.word} section={section} />
        ))}
        <li className="card settings-card">
          <h2>
            <Link to="/settings/operations" search={keepScope} className="card-link">
              All operations
            </Link>
          </h2>
          <p className="quiet">Every operation, with a form to run it</p>
        </li>
      </ul>
    </Page>
  )
}

function ContentsCard({ section }: { section: SettingsSection }) {
  if (!useOffered(section)) return null
  return (
    <li className="card settings-card">
      <h2>
        <Link to="/settings/$section" params={{ section: section.word }} search={keepScope} className="card-link">
          {section.title}
        </Link>
      </h2>
      <p className="quiet">{section.about}</p>
    </li>
  )
}
