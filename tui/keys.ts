import type { Key as InkKey } from 'ink'

/** One press: a name (`up`, `enter`, `ctrl-d`) or the character itself. */
export interface KeyPress {
  name: string
  /** What it would write; empty for keys that write nothing. */
  text: string
}

const named = [
  ['upArrow', 'up'],
  ['downArrow', 'down'],
  ['leftArrow', 'left'],
  ['rightArrow', 'right'],
  ['pageUp', 'pageup'],
  ['pageDown', 'pagedown'],
  ['home', 'home'],
  ['end', 'end'],
  ['return', 'enter'],
  ['escape', 'escape'],
  ['backspace', 'backspace'],
  ['delete', 'delete'],
] as const satisfies readonly (readonly [keyof InkKey, string])[]

const controls: Record<string, string> = { '\r': 'enter', '\n': 'enter', '\t': 'tab', '\u007f': 'backspace' }

/** What arrives in one piece (over a slow line, or from a quick hand) is many presses. */
export function readPresses(input: string, key: InkKey): KeyPress[] {
  if (key.tab) return [{ name: key.shift ? 'backtab' : 'tab', text: '' }]
  const special = named.find(([flag]) => key[flag])
  if (special !== undefined) return [{ name: special[1], text: '' }]
  if (key.ctrl) return [{ name: `ctrl-${input}`, text: '' }]
  // A terminal sends Alt as an Escape before; two quick presses arrive the same.
  if (key.meta) return [{ name: 'escape', text: '' }, ...readText(input)]
  return readText(input)
}

export function readText(text: string): KeyPress[] {
  return Array.from(text).flatMap((character) => {
    const control = controls[character]
    if (control !== undefined) return [{ name: control, text: '' }]
    return character < ' ' ? readControl(character) : [{ name: character, text: character }]
  })
}

/** A terminal sends Ctrl with a letter as the letter's place in the alphabet. */
function readControl(character: string): KeyPress[] {
  const position = character.charCodeAt(0)
  return position >= 1 && position <= 26 ? [{ name: `ctrl-${String.fromCharCode(96 + position)}`, text: '' }] : []
}
