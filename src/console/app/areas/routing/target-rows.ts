import { isFormatName } from '../../../../core/format.ts'
import { parseTarget, writeTarget } from '../../../../core/routes/written-target.ts'
import type { RouteTarget } from '../outputs.ts'

/** One target being edited, as the text of its inputs. */
export interface TargetRow {
  /** For the page only: rows change places. */
  key: string
  provider: string
  model: string
  weight: string
  priority: string
  /** '' : as the provider prefers. */
  format: string
}

let last = 0

export function newRow(provider = '', model = ''): TargetRow {
  last++
  return { key: `row-${last}`, provider, model, weight: '', priority: '', format: '' }
}

/** As the route has them; what it would be anyway is left empty. */
export function rowsOf(targets: readonly RouteTarget[]): TargetRow[] {
  const usual = targets.every(({ priority }, index) => index === 0 || priority > (targets[index - 1]?.priority ?? 0))
  return targets.map(({ provider, upstream_model, weight, priority, format }) => ({
    ...newRow(provider, upstream_model ?? ''),
    weight: weight === 1 ? '' : String(weight),
    priority: usual ? '' : String(priority),
    format: format ?? '',
  }))
}

export function moveRow(rows: readonly TargetRow[], from: number, to: number): TargetRow[] {
  const moved = rows[from]
  if (moved === undefined || to < 0 || to >= rows.length) return [...rows]
  const rest = rows.filter((_, index) => index !== from)
  return [...rest.slice(0, to), moved, ...rest.slice(to)]
}

/** As `routes add --target` takes them. */
export function writeRows(rows: readonly TargetRow[]): string[] {
  return rows.filter(({ provider }) => provider !== '').map((row) => writeTarget(targetOf(row)))
}

function targetOf({ provider, model, weight, priority, format }: TargetRow) {
  return {
    provider,
    upstreamModel: model.trim() === '' ? null : model.trim(),
    weight: readNumber(weight),
    priority: readNumber(priority),
    format: isFormatName(format) ? format : null,
  }
}

/** What is wrong before anything is sent; a weight that is no number would be taken for none. */
export function problemsOfRows(rows: readonly TargetRow[]): { targets?: string } {
  const used = rows.filter(({ provider }) => provider !== '')
  if (used.length === 0) return { targets: 'Select a provider for at least one target.' }
  const isWrong = used.some((row) =>
    [row.weight, row.priority].some((text) => text.trim() !== '' && readNumber(text) === null),
  )
  if (isWrong) return { targets: 'A weight must be a number, like 2 or 0.5.' }
  // `gpt,weight=3` would be another model with a weight.
  const other = used.find((row) => {
    const { upstreamModel, weight } = targetOf(row)
    const read = parseTarget(writeTarget(targetOf(row)))
    return read?.upstreamModel !== upstreamModel || read.weight !== weight
  })
  return other === undefined ? {} : { targets: `The model ${other.model.trim()} cannot be written as a target.` }
}

/** As a target is written: no sign, no exponent. */
function readNumber(text: string): number | null {
  const number = Number(text.trim())
  return text.trim() !== '' && /^\d+(\.\d+)?$/.test(String(number)) ? number : null
}
