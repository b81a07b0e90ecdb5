import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  newRow,
  problemsOfRows,
  rowsOf,
  type TargetRow,
  writeRows,
} from '../../../src/console/app/areas/routing/target-rows.ts'
import { formatNames } from '../../../src/core/format.ts'
import { parseTarget } from '../../../src/core/routes/written-target.ts'

const number = fc.oneof(
  fc.constantFrom('', ' ', '2', ' 0.5 ', '-1', '1e-7', '1e3', '1e21', 'two', 'Infinity', '0x10', '.5', '2,5'),
  fc.nat(99).map(String),
)
const model = fc.oneof(
  fc.constantFrom('', 'gpt-4o', 'llama3:8b', 'a,b', 'm,weight=3', 'm,priority=1', ',format=chat', 'a,weight=x', ' m '),
  fc.string({ maxLength: 8, unit: fc.constantFrom('a', ':', ',', '=', '*', '\n') }),
)
const row: fc.Arbitrary<TargetRow> = fc.record({
  key: fc.uuid(),
  provider: fc.constantFrom('', 'openai', 'azure-eu'),
  model,
  weight: number,
  priority: number,
  format: fc.constantFrom('', ...formatNames, 'nonsense'),
})

describe('targets that are edited', () => {
  it('reach the gateway as they were typed, or are refused before they are sent', () => {
    fc.assert(
      fc.property(fc.array(row, { maxLength: 4 }), (rows) => {
        if (problemsOfRows(rows).targets !== undefined) return
        const used = rows.filter(({ provider }) => provider !== '')
        expect(writeRows(rows).map(parseTarget)).toEqual(
          used.map(({ provider, model, weight, priority, format }) => ({
            provider,
            upstreamModel: model.trim() || null,
            weight: weight.trim() === '' ? null : Number(weight),
            priority: priority.trim() === '' ? null : Number(priority),
            format: format === '' || format === 'nonsense' ? null : format,
          })),
        )
      }),
      { numRuns: 1000 },
    )
  })

  // As `openai:m,weight=-1` it would be a model of that name.
  it.each(['-1', '1e-7', '1e21', 'two', '2,5', 'NaN'])('have no weight and no priority of %s', (text) => {
    const wrong = { targets: 'A weight must be a number, like 2 or 0.5.' }
    expect(problemsOfRows([{ ...newRow('openai', 'm'), weight: text }])).toEqual(wrong)
    expect(problemsOfRows([{ ...newRow('openai', 'm'), priority: text }])).toEqual(wrong)
    // A row that is not sent is nobody's problem.
    expect(problemsOfRows([newRow('openai', 'm'), { ...newRow(''), weight: text }])).toEqual({})
  })

  it('have no model that would be read as an option', () => {
    expect(problemsOfRows([newRow('openai', 'm,weight=3')])).toEqual({
      targets: 'The model m,weight=3 cannot be written as a target.',
    })
    expect(problemsOfRows([newRow('openai', 'm,weight=heavy')])).toEqual({})
  })

  it('are as the route has them, whatever its order is', () => {
    const target = fc.record({
      provider: fc.constantFrom('openai', 'azure-eu'),
      upstream_model: fc.option(fc.constantFrom('m', 'llama3:8b')),
      weight: fc.constantFrom(1, 0, 2.5),
      priority: fc.nat(3),
      format: fc.option(fc.constantFrom(...formatNames)),
      ...{ state: fc.constant('ready' as const), state_reason: fc.constant(null), state_since: fc.constant(null) },
      formats: fc.constant<(typeof formatNames)[number][]>([]),
    })
    fc.assert(
      fc.property(fc.array(target, { minLength: 1, maxLength: 4 }), (targets) => {
        const rows = rowsOf(targets)
        expect(problemsOfRows(rows)).toEqual({})
        const said = writeRows(rows).map(parseTarget)
        expect(said.map((each) => each && [each.provider, each.upstreamModel, each.weight ?? 1, each.format])).toEqual(
          targets.map((each) => [each.provider, each.upstream_model, each.weight, each.format]),
        )
        // Left out only where the order of the list says the same.
        for (const [place, each] of said.entries())
          if (each?.priority !== null) expect(each?.priority).toBe(targets[place]?.priority)
        const isLeftOut = said.every((each) => each?.priority === null)
        if (isLeftOut)
          expect(targets.map(({ priority }) => priority)).toEqual([...targets.map(({ priority }) => priority)].sort())
      }),
    )
  })
})
