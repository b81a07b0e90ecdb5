/** Where the lines of a route's picture run: from the model at the left to one row for each target. Pixels. */
export interface PictureLine {
  key: string
  path: string
  /** Of the stroke: the more traffic, the broader. */
  width: number
}

export interface PictureTarget {
  key: string
  /** Of the last hour's traffic, 0 to 1; null: there was none. */
  share: number | null
}

export interface PictureSize {
  width: number
  rowHeight: number
  gap: number
}

const thinnest = 1.5
const broadest = 9

/** As high as all its rows. */
export function pictureHeight(count: number, { rowHeight, gap }: PictureSize): number {
  return count === 0 ? rowHeight : count * rowHeight + (count - 1) * gap
}

export function drawLines(targets: readonly PictureTarget[], size: PictureSize): PictureLine[] {
  const middle = pictureHeight(targets.length, size) / 2
  return targets.map(({ key, share }, index) => {
    const end = index * (size.rowHeight + size.gap) + size.rowHeight / 2
    const bend = size.width / 2
    const width = share === null ? thinnest : thinnest + share * (broadest - thinnest)
    const path = `M0 ${round(middle)}C${round(bend)} ${round(middle)} ${round(bend)} ${round(end)} ${size.width} ${round(end)}`
    return { key, path, width: round(width) }
  })
}

function round(value: number): number {
  return Math.round(value * 100) / 100
}

/** What a request would find: `priority` tries groups one after another, `weighted` shares out within. */
export function expectedShares(
  strategy: string,
  targets: readonly { weight: number; priority: number }[],
): (number | null)[] {
  if (strategy !== 'weighted') return targets.map(() => null)
  const first = Math.min(...targets.map(({ priority }) => priority))
  const sum = targets.filter(({ priority }) => priority === first).reduce((total, { weight }) => total + weight, 0)
  return targets.map(({ weight, priority }) => (priority === first && sum > 0 ? weight / sum : 0))
}
