interface ColumnWidth {
  width?: string
  middleWidth?: string
  roomyOnly?: boolean
}

/** A column without a width of its own is nothing to read with less. */
const leastPx = 120

/**
 * From where a table scrolls within itself: with a fixed layout, columns of a fixed width take all there is, and those
 * without one, which are the names, would be gone.
 */
export function leastWidths(columns: readonly ColumnWidth[]): Record<'--least-wide' | '--least-middle', string> {
  const middle = columns.filter(({ roomyOnly = false }) => !roomyOnly)
  return {
    '--least-wide': sumOf(columns.map(({ width }) => width)),
    '--least-middle': sumOf(middle.map(({ width, middleWidth = width }) => middleWidth)),
  }
}

function sumOf(widths: readonly (string | undefined)[]): string {
  const px = widths.map((width) => (width?.endsWith('px') ? Number.parseFloat(width) : leastPx))
  return `${px.reduce((sum, one) => sum + one, 0)}px`
}
