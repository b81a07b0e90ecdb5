import { Outlet, useNavigate, useRouterState } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { useLive, useLiveConnection } from '../live/live.ts'
import { Toasts } from '../parts/toasts.tsx'
import { hasSignedOut, useSession } from '../session/session.ts'
import { AccountMenu } from './account-menu.tsx'
import { AwayBanner } from './away-banner.tsx'
import { EndedBanner } from './ended-banner.tsx'
import { useShortcuts } from './keys.ts'
import { loadAllParts } from './lazy-page.ts'
import { Rail } from './rail.tsx'
import { ScopeSwitch } from './scope-switch.tsx'
import { SearchButton } from './search-button.tsx'
import { ShortcutSheet } from './shortcut-sheet.tsx'

/** Everything around a page, for signed-in operators. */
export function Layout() {
  useLiveConnection()
  useSignedOutRedirect()
  useQuietLoading()
  const main = useFocusOnArrival()
  const { sheet, closeSheet } = useShortcuts()
  const showSheet = () => document.dispatchEvent(new KeyboardEvent('keydown', { key: '?' }))
  return (
    <div className="shell">
      <a className="skip" href="#main">
        Skip to content
      </a>
      <Rail />
      <header className="top-bar">
        <ScopeSwitch />
        <SearchButton />
        <LiveLight />
        <AccountMenu onShowKeys={showSheet} />
      </header>
      <AwayBanner />
      <EndedBanner />
      <main id="main" className="main" tabIndex={-1} ref={main}>
        <Outlet />
      </main>
      <Toasts />
      <ShortcutSheet open={sheet} onClose={closeSheet} />
    </div>
  )
}

const untilQuietMs = 1500

/** Once the first page is there, the others are loaded too. */
function useQuietLoading(): void {
  useEffect(() => {
    const timer = setTimeout(() => void loadAllParts(), untilQuietMs)
    return () => clearTimeout(timer)
  }, [])
}

/** The session may end while a page is open: it is revoked elsewhere, or expires. */
function useSignedOutRedirect(): void {
  const { data } = useSession()
  const navigate = useNavigate()
  const was = useRef(false)
  useEffect(() => {
    if (data === undefined) return
    if (data.operator !== null) {
      was.current = true
      return
    }
    const next = location.pathname + location.search
    const ended = was.current && !hasSignedOut()
    void navigate({ to: '/sign-in', search: { ...(next === '/' ? {} : { next }), ...(ended ? { ended } : {}) } })
  }, [data, navigate])
}

const leftFrames = 30

/** Who comes back to a list goes on from the row or the card that they opened, as soon as it is drawn. */
function focusLeft(from: string, list: string): () => void {
  const [key, path] = [from.slice(list.length + 1), from].map((text) => CSS.escape(text))
  const selector = `[data-key="${key}"], a[href="${path}"], a[href^="${path}?"]`
  let frames = 0
  const look = () => {
    if (document.activeElement?.id !== 'main') return
    const found = document.activeElement.querySelector<HTMLElement>(selector)
    if (found !== null) found.focus()
    else if (frames++ < leftFrames) frame = requestAnimationFrame(look)
  }
  let frame = requestAnimationFrame(look)
  return () => cancelAnimationFrame(frame)
}

/**
 * After navigation the keyboard and screen readers start at the top of the page, or at what one comes back from, unless the user is
 * already typing.
 */
function useFocusOnArrival() {
  const main = useRef<HTMLElement>(null)
  const path = useRouterState({ select: (state) => state.resolvedLocation?.pathname })
  const before = useRef(path)
  useEffect(() => {
    const writes = document.activeElement?.matches('input, textarea, select') === true
    const from = before.current
    before.current = path
    if (from === undefined || from === path || writes) return
    main.current?.focus({ preventScroll: true })
    if (path !== undefined && from.startsWith(`${path}/`)) return focusLeft(from, path)
  }, [path])
  return main
}

const words = { receiving: 'Live', degraded: 'Degraded', disconnected: 'Reconnecting' } as const

/** Whether what is on the page is what is going on: a sign, a word, and the reason on hover and for screen readers. */
export function LiveLight() {
  const { state, reason } = useLive()
  const explained = reason === null ? 'Changes and requests appear as they happen.' : reason
  return (
    <span className={`live-light live-${state}`} role="status" title={explained}>
      <span className="live-mark" aria-hidden="true" />
      <span className="live-word">{words[state]}</span>
      <span className="visually-hidden">{explained}</span>
    </span>
  )
}
