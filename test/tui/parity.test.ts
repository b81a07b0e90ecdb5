import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { catalog } from '../../cli/catalog.ts'
import type { Operation } from '../../cli/operation.ts'
import { deriveAreas, titleOf, wordsOf } from '../../tui/areas.ts'
import { type Driven, drive } from './drive.ts'

/** From the contract, not from a list: an operation that it learns is looked for here without anybody's doing. */
const areas = deriveAreas(catalog)
const everything = areas.flatMap((area) =>
  area.operations.map((operation) => ({ name: operation.name, area, operation })),
)

let driven: Driven
beforeEach(() => {
  driven = drive()
})
afterEach(() => driven.stop())

/** Goes to the noun as a person would: its tab, or `More` and its name there. */
async function goTo(area: string): Promise<void> {
  const tabs: Record<string, string> = { providers: '2', routes: '3', keys: '4', requests: '5' }
  await driven.press(tabs[area] ?? '6')
  if (tabs[area] !== undefined) return
  const labels = areas.filter(({ name }) => tabs[name] === undefined).map(({ name }) => name)
  expect(driven.text(120, 60)).toContain(titleOf(area))
  for (let step = labels.indexOf(area); step > 0; step--) await driven.press('down')
  await driven.press('enter')
}

/** Whether what is on the screen is about the operation, or the gateway was asked for it. */
function isReached(operation: Operation, callsBefore: number): boolean {
  const asked = driven.calls.slice(callsBefore).some(({ path }) => path === operation.name)
  const words = driven.text(200, 60)
  const confirm = operation.meta.confirm?.split(/[{?.]/, 1)[0] ?? operation.meta.summary
  return asked || words.includes(`${operation.meta.summary}.`) || words.includes(confirm)
}

/** But what is done at the machine's command line alone. */
const offered = catalog.filter(({ meta }) => meta.onMachine !== true).map(({ name }) => name)

describe('every operation of the contract', () => {
  it('stands in exactly one noun', () => {
    expect(everything.map(({ name }) => name).sort()).toEqual([...offered].sort())
    expect(offered.length).toBeGreaterThan(40)
    expect(offered).not.toContain('operators.reset')
  })

  it.each(everything)('$name is reached with the keyboard', async ({ area, operation }) => {
    await goTo(area.name)
    if (isReached(operation, 0) && operation === area.list) return
    // A noun with a list has the rest in its menu; any other is a menu itself.
    if (area.list !== null || area.name === 'requests') await driven.press('m')
    const lines = driven.text(200, 80).split('\n')
    const place = lines.findIndex((line) => new RegExp(`^[ ▸] ${wordsOf(operation)}  `).test(line))
    const first = lines.findIndex((line) => line.startsWith('▸ '))
    expect(place, driven.text(200, 60)).toBeGreaterThanOrEqual(first)
    for (let step = place - first; step > 0; step--) await driven.press('down')
    const before = driven.calls.length
    await driven.press('enter')
    expect(isReached(operation, before), driven.text(200, 60)).toBe(true)
  })
})
