import type { KeyPress } from '../keys.ts'
import { pairs } from '../lines.ts'
import { Pager } from '../pager.ts'
import type { DrawArea, Hint, Screen } from '../screen.ts'

const everywhere: readonly Hint[] = [
  ['1 … 6, tab', 'switch tabs'],
  ['↑ ↓ j k', 'move; pgup pgdn g G move further'],
  ['enter →', 'open; press again for full width'],
  ['esc ←', 'back'],
  ['a e x', 'add, edit, remove'],
  ['m', 'menu of all actions'],
  ['/', 'filter rows; in Requests also find a req_ ID'],
  ['f', 'in Requests: filters applied by the gateway'],
  ['p', 'in Requests: pause'],
  ['y', 'copy the ID'],
  ['b', 'in a request: show bodies, if they were captured'],
  ['r', 'refresh'],
  ['s', 'choose project and environment'],
  ['ctrl-z', 'suspend; fg resumes'],
  ['q ctrl-c', 'quit'],
]
const writing: readonly Hint[] = [
  ['↑ ↓ tab', 'move between fields'],
  ['← →', 'move in the text, or choose another value'],
  ['space', 'toggle'],
  ['ctrl-u ctrl-w', 'clear the line or the word'],
  ['ctrl-s', 'submit'],
]

/** Every key. */
export class HelpScreen implements Screen {
  readonly title = 'Help'
  readonly #of: Screen
  readonly #pager = new Pager()

  constructor(of: Screen) {
    this.#of = of
  }

  draw(area: DrawArea): string[] {
    const { theme } = area
    const here = this.#of.hints()
    return this.#pager.draw(
      [
        ...(here.length === 0 ? [] : [theme.paint('strong', `Here: ${this.#of.title}`), ...pairs(here, theme), '']),
        theme.paint('strong', 'Everywhere'),
        ...pairs(everywhere, theme),
        '',
        theme.paint('strong', 'In a form'),
        ...pairs(writing, theme),
        '',
        '● connected  ○ not connected. To disable colour: NO_COLOR=1 spgw tui',
      ],
      area,
    )
  }

  hints(): Hint[] {
    return [
      ['↑↓', 'scroll'],
      ['esc', 'back'],
    ]
  }

  press(press: KeyPress): boolean {
    return this.#pager.press(press)
  }
}
