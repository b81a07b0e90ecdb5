import type { FormatName } from '../../../core/format.ts'
import type { Fate } from '../../../translate/field-table.ts'
import { outcomes } from '../../contract/routes/losses.ts'

const outcomeOf: Readonly<Record<Fate, (typeof outcomes)[number]>> = {
  kept: 'kept',
  mapped: 'kept',
  approximated: 'changed',
  dropped: 'lost',
  refused: 'refused',
  ignored: 'no effect',
}

/** The table of losses for two formats; what is lost comes first. None where both are the same. */
export async function showFormatLosses({ from, to }: { from: FormatName; to: FormatName }) {
  if (from === to) return []
  const { fateOf, losses } = await import('../../../translate/losses.ts')
  const { conditionOf } = await import('../../../translate/depends.ts')
  const rows = Object.keys(losses[from]).map((field) => {
    const { fate, why } = fateOf(from, field, to)
    const outcome = outcomeOf[fate]
    const condition = conditionOf(from, field, to)
    if (condition !== null && (outcome === 'kept' || outcome === 'no effect'))
      return { field, outcome: 'depends' as const, why: condition }
    if (outcome === 'kept' || outcome === 'no effect') return { field, outcome, why: null }
    return { field, outcome, why: why ?? (outcome === 'lost' ? 'it has no such field' : null) }
  })
  return rows.toSorted((one, other) => outcomes.indexOf(one.outcome) - outcomes.indexOf(other.outcome))
}
