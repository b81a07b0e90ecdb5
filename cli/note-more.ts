import { rowsOf } from '../src/admin/contract/show-rows.ts'
import { escapeControls, valueAt } from '../src/admin/contract/show-value.ts'
import type { GlobalOptions } from './global-options.ts'
import type { Io } from './io.ts'
import type { Operation } from './operation.ts'

/** A list that ends at its usual limit looks whole: a person is told that there may be more, and how to see it. */
export async function noteMore(
  { fields, meta: { show } }: Operation,
  input: Readonly<Record<string, unknown>>,
  output: unknown,
  settings: GlobalOptions,
  io: Io,
): Promise<void> {
  const usual = fields.find(({ name }) => name === 'limit')?.fallback
  if (show.as !== 'table' || settings.output !== 'table' || !io.stderr.isTerminal) return
  const rows = rowsOf(show, output)
  if (typeof usual !== 'number' || input.limit !== undefined || rows.length < usual) return
  const last = valueAt(rows.at(-1), 'id')
  const isPaged = fields.some(({ name }) => name === 'before') && typeof last === 'string'
  const older = isPaged ? `; older ones: --before ${escapeControls(last)}` : ''
  await io.stderr.write(`The newest ${usual}. For more: --limit N${older}\n`)
}
