/** The row that the keys act on, and the first one that is seen. */
export interface Selection {
  index: number
  top: number
}

/** Moved by `step`, kept within `count` rows and within what is seen of them. */
export function moveSelection({ index, top }: Selection, step: number, count: number, height: number): Selection {
  const last = Math.max(0, count - 1)
  const moved = Math.min(Math.max(0, index + step), last)
  const highest = Math.max(0, moved - height + 1)
  return { index: moved, top: Math.max(highest, Math.min(top, moved, Math.max(0, count - height))) }
}

/** How far a press moves in a list; null: it moves nothing. */
export function stepOf(name: string, height: number): number | null {
  switch (name) {
    case 'up':
    case 'k':
      return -1
    case 'down':
    case 'j':
      return 1
    case 'pageup':
    case 'ctrl-u':
      return -height
    case 'pagedown':
    case 'ctrl-d':
      return height
    case 'home':
    case 'g':
      return Number.NEGATIVE_INFINITY
    case 'end':
    case 'G':
      return Number.POSITIVE_INFINITY
    default:
      return null
  }
}
