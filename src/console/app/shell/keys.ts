import { useNavigate } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { openPalette } from './palette-state.ts'
import { places } from './places.ts'

const sequenceMs = 1200

/** While typing, keys are text; keys with a modifier belong to the browser. */
export function isTyping(event: KeyboardEvent): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return true
  const { target } = event
  return target instanceof HTMLElement && (target.isContentEditable || target.matches('input, textarea, select'))
}

/** `g` and a letter, `/` or Ctrl-K for the search, `?` for the sheet. Gives whether the sheet is open. */
export function useShortcuts(): { sheet: boolean; closeSheet(): void } {
  const navigate = useNavigate()
  const [sheet, setSheet] = useState(false)
  useEffect(() => {
    let begunAt = Number.NEGATIVE_INFINITY
    const press = (event: KeyboardEvent) => {
      if (isPaletteKey(event)) return showPalette(event)
      if (isTyping(event) || document.querySelector('dialog[open]') !== null) return
      const isSecond = event.timeStamp - begunAt < sequenceMs
      begunAt = Number.NEGATIVE_INFINITY
      const place = isSecond ? places.find(({ key }) => key === event.key) : undefined
      if (place !== undefined) void navigate({ to: place.to, search: keepScope })
      else if (event.key === 'g') begunAt = event.timeStamp
      else if (event.key === '/') showPalette(event)
      else if (event.key === '?') setSheet(true)
    }
    document.addEventListener('keydown', press)
    return () => document.removeEventListener('keydown', press)
  }, [navigate])
  return { sheet, closeSheet: () => setSheet(false) }
}

/** Links keep the project and environment of the current address. */
export function keepScope(search: { project?: string; environment?: string }): {
  project?: string
  environment?: string
} {
  const { project, environment } = search
  return { ...(project === undefined ? {} : { project }), ...(environment === undefined ? {} : { environment }) }
}

/** Cmd-K or Ctrl-K, also while typing. */
function isPaletteKey({ key, ctrlKey, metaKey, altKey, shiftKey }: KeyboardEvent): boolean {
  return key.toLowerCase() === 'k' && ctrlKey !== metaKey && !altKey && !shiftKey
}

function showPalette(event: KeyboardEvent): void {
  event.preventDefault()
  if (document.querySelector('dialog[open]') === null) openPalette()
}
