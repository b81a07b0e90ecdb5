export type Theme = 'system' | 'light' | 'dark'

const storageKey = 'spgw-theme'

export function readTheme(): Theme {
  const kept = localStorage.getItem(storageKey)
  return kept === 'light' || kept === 'dark' ? kept : 'system'
}

/** Remembered on this browser; `system` follows the machine's own wish. */
export function applyTheme(theme: Theme): void {
  if (theme === 'system') localStorage.removeItem(storageKey)
  else localStorage.setItem(storageKey, theme)
  const root = document.documentElement
  if (theme === 'system') delete root.dataset.theme
  else root.dataset.theme = theme
  dispatchEvent(new Event('themechange'))
}
