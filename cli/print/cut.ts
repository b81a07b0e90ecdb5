import { textWidth } from './text-width.ts'

const ellipsis = '…'

/** To a width in terminal cells, at its end. */
export function cut(text: string, width: number): string {
  return textWidth(text) <= width ? text : take(split(text), width - 1) + ellipsis
}

/**
 * In its middle: of a path, in the middle part first, so that `key:support/production/bot` still says whose key it is and
 * which (`key:support/pro…/bot`).
 */
export function cutMiddle(text: string, width: number): string {
  if (textWidth(text) <= width) return text
  const [, before, middle, after] = /^([^/]*\/)([^/]+)(\/.*)$/s.exec(text) ?? []
  if (before !== undefined && middle !== undefined && after !== undefined) {
    const room = width - textWidth(before) - textWidth(after)
    // Less than a letter and the sign for the rest would not tell one from another.
    if (room > 1) return before + cut(middle, room) + after
  }
  const tail = takeEnd(text, Math.floor((width - 1) / 2))
  return take(split(text), width - 1 - textWidth(tail)) + ellipsis + tail
}

function takeEnd(text: string, width: number): string {
  let kept = ''
  for (const segment of split(text).reverse()) {
    if (textWidth(segment + kept) > width) break
    kept = segment + kept
  }
  return kept
}

function take(segments: readonly string[], width: number): string {
  let kept = ''
  for (const segment of segments) {
    if (textWidth(kept + segment) > width) break
    kept += segment
  }
  return kept
}

const split = (text: string) => Array.from(new Intl.Segmenter().segment(text), ({ segment }) => segment)
