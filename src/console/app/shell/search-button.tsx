import { Search } from 'lucide-react'
import { Palette } from './palette.tsx'
import { closePalette, openPalette, usePaletteText } from './palette-state.ts'

const isMac = /Mac|iPhone|iPad/.test(navigator.platform)

/** Looks like the field that it opens. The palette is no script of its own: whoever types after `/` does not wait. */
export function SearchButton() {
  const begun = usePaletteText()
  return (
    <>
      <button
        type="button"
        className="search-button"
        aria-keyshortcuts="Control+K Meta+K /"
        onClick={() => openPalette()}
      >
        <Search size={16} aria-hidden="true" />
        <span className="grow truncate search-words">Search</span>
        <span className="key" aria-hidden="true">
          {isMac ? '⌘K' : 'Ctrl K'}
        </span>
      </button>
      {begun === null ? null : <Palette begun={begun} onClose={closePalette} />}
    </>
  )
}
