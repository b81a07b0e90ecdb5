import type { KeyPress } from '../keys.ts'
import { columnsOf, wrap } from '../lines.ts'
import { Pager } from '../pager.ts'
import type { DrawArea, Hint, Screen } from '../screen.ts'

const everywhere: readonly Hint[] = [
  ['1 … 6, tab', 'switch tabs'],
  ['↑ ↓ j k', 'move; pgup pgdn g G move further'],
  ['enter →', 'open; press again for full width'],
  ['esc ←', 'back'],
  [':', 'a command: a place (:keys), or anything that spgw can do (:routes explain gpt-4o); tab completes'],
  ['a e x', 'add, edit, remove'],
  ['m', 'menu of all actions'],
  ['l', 'requests of the provider, route or key that is selected'],
  ['$', 'what was spent: of the row that is selected, or in all'],
  ['o', 'switch on or off: activate, deactivate, enable, disable'],
  ['c t w', 'check a provider, test a route, explain where a request would go'],
  ['n v', 'a new secret for a key, revoke a key'],
  ['h u T', 'history of a provider, usage of a key, traffic of a route'],
  ['/', 'filter rows; in Requests also find a req_ ID'],
  ['f', 'in Requests: filters applied by the gateway'],
  ['p', 'in Requests: pause'],
  ['y', 'copy the ID'],
  ['R', 'in Requests: send it again'],
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
        ...(here.length === 0
          ? []
          : [theme.paint('strong', `Here: ${this.#of.title}`), ...columnsOf(here, area.width), '']),
        theme.paint('strong', 'Everywhere'),
        ...columnsOf(everywhere, area.width),
        '',
        theme.paint('strong', 'In a form'),
        ...columnsOf(writing, area.width),
        '',
        ...wrap('● connected  ○ not connected. To disable colour: NO_COLOR=1 spgw tui', area.width),
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
