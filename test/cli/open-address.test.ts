import { expect, it } from 'vitest'
import { findOpener, writeLeadingPage } from '../../cli/open-address.ts'

it('a browser is opened only where somebody sits before one', () => {
  expect(findOpener('linux', {})).toBeNull()
  expect(findOpener('linux', { DISPLAY: ':0', SSH_CONNECTION: '203.0.113.7 1 203.0.113.8 22' })).toBeNull()
  expect(findOpener('linux', { WAYLAND_DISPLAY: 'wayland-0' })).toEqual(['xdg-open'])
  expect(findOpener('darwin', {})).toEqual(['open'])
})

it('the page that leads on holds the address and nothing else of it', () => {
  const page = writeLeadingPage('http://localhost:8788/link/abc?x="><script>&y')
  expect(page).toContain('content="0;url=http://localhost:8788/link/abc?x=%22%3E%3Cscript%3E&amp;y"')
  expect(page).not.toContain('<script')
})
