import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { hasProgram } from '../support/executable.ts'
import { playScenario } from '../support/scenario.ts'
import { parseScenario } from '../support/scenario-format.ts'
import { oneOf } from '../support/shows/is-whole.ts'

const directory = join(import.meta.dirname, '../scenarios')

// Most of a scenario is waiting for one process after the other.
describe.concurrent('scenarios', { timeout: 1_200_000 }, () => {
  // Each command is a process of its own: every fourth scenario, by chance, and all of them by `npm run shows`.
  for (const file of oneOf(4, readdirSync(directory).sort())) {
    const scenario = parseScenario(readFileSync(join(directory, file), 'utf8'))
    const needs = ['bash', ...scenario.needs]
    it.skipIf(!needs.every(hasProgram))(`${file} (needs ${needs.join(', ')})`, () => playScenario(scenario))
  }
})

describe('the player of scenarios', () => {
  const play = (text: string) => playScenario(parseScenario(text))

  it('sees a wrong status, a missing text, one that should not be there, and two documents in one', async () => {
    await expect(play('$ exit_with() { return 3; }; exit_with\n')).rejects.toThrow('expected exit 0')
    await expect(play('$ echo one\n  out has two\n')).rejects.toThrow('line 2: expected out has two')
    await expect(play('$ X=one; echo one\n  out lacks $X\n')).rejects.toThrow('out lacks one')
    await expect(play("$ echo '{}{}'\n  out json\n")).rejects.toThrow('out json')
    await expect(play('mock openai\n$ echo "$OPENAI_CREDENTIAL" >file\n')).rejects.toThrow('a provider credential')
  })

  it('keeps variables and background processes from step to step, and ends what is left running', async () => {
    const note = join(mkdtempSync(join(tmpdir(), 'player-')), 'address')
    await play(`$ spgw init
$ spgw serve 2>log &
$ await_line log gateway
$ X=$(sed -n 's/.*gateway \\([^ ]*\\).*/\\1/p' log)
$ curl -sf "$X/readyz" && echo "$X" >${note}
`)
    const address = readFileSync(note, 'utf8').trim()
    rmSync(dirname(note), { recursive: true })
    await expect(fetch(address)).rejects.toThrow('fetch failed')
  })

  it('refuses a line that says nothing known', () => {
    expect(() => parseScenario('$ true\n  output has x\n')).toThrow('line 2')
  })
})
