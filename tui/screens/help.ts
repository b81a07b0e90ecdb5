import type { Press } from '../keys.ts'
import { pairs } from '../lines.ts'
import { Pager } from '../pager.ts'
import type { Hint, Place, Screen } from '../screen.ts'

const everywhere: readonly Hint[] = [
  ['1 … 6, tab', 'another tab'],
  ['↑ ↓ j k', 'move; pgup pgdn g G further'],
  ['enter →', 'open; once more for all the room'],
  ['esc ←', 'back'],
  ['a e x', 'add, edit, remove'],
  ['m', 'menu: everything that can be done'],
  ['/', 'filter rows; in Requests also a req_ id'],
  ['f', 'in Requests: only some, chosen at the gateway'],
  ['p', 'in Requests: pause'],
  ['y', 'copy the id'],
  ['b', 'in a request: what was said, where it was kept'],
  ['r', 'read again'],
  ['s', 'another project and environment'],
  ['ctrl-z', 'to the shell; fg comes back'],
  ['q ctrl-c', 'quit'],
]
const writing: readonly Hint[] = [
  ['↑ ↓ tab', 'another field'],
  ['← →', 'in the text, or the next of the names'],
  ['space', 'switches a yes or no'],
  ['ctrl-u ctrl-w', 'clear the line, the word'],
  ['ctrl-s', 'done'],
]

/** Every key. */
export class HelpScreen implements Screen {
  readonly title = 'Help'
  readonly #of: Screen
  readonly #pager = new Pager()

  constructor(of: Screen) {
    this.#of = of
  }

  draw(place: Place): string[] {
    const { look } = place
    const here = this.#of.hints()
    return this.#pager.draw(
      [
        ...(here.length === 0 ? [] : [look.paint('strong', `Here: ${this.#of.title}`), ...pairs(here, look), '']),
        look.paint('strong', 'Everywhere'),
        ...pairs(everywhere, look),
        '',
        look.paint('strong', 'In a form'),
        ...pairs(writing, look),
        '',
        'A light is never told by colour alone: ● answers, ○ does not. Without colour: NO_COLOR=1 spgw tui.',
      ],
      place,
    )
  }

  hints(): Hint[] {
    return [
      ['↑↓', 'scroll'],
      ['esc', 'back'],
    ]
  }

  press(press: Press): boolean {
    return this.#pager.press(press)
  }
}
