import stringWidth from 'string-width'

/** A module of its own, since it is loaded only when it is needed, and bundled packages are split off by their importer. */
export function unicodeWidth(text: string): number {
  return stringWidth(text)
}
