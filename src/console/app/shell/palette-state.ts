import { useSyncExternalStore } from 'react'

/** The search palette: closed, or open with the text to begin with. */
let begun: string | null = null
const listeners = new Set<() => void>()

function set(next: string | null): void {
  begun = next
  for (const listener of listeners) listener()
}

export function openPalette(text = ''): void {
  set(text)
}

export function closePalette(): void {
  set(null)
}

/** null: it is closed. */
export function usePaletteText(): string | null {
  return useSyncExternalStore(subscribe, () => begun)
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
