import type { GlobalOptions } from '../global-options.ts'
import type { Io } from '../io.ts'
import type { Operation } from '../operation.ts'
import { renderExplanation } from './explanation.ts'
import { renderDocument } from './machine.ts'
import { printOnce } from './once.ts'
import { renderRecord } from './record.ts'
import { renderRequest } from './request.ts'
import { renderTable } from './table.ts'
import { stdoutView, type View } from './view.ts'

export interface Result {
  operation: Operation
  output: unknown
  client: object
}

/** Screens that the contract cannot say, by operation; each is given the operation's own output. */
const handMade: Record<string, (output: unknown, view: View) => string | null> = {
  'requests.show': renderRequest,
  'routes.explain': renderExplanation,
}

/** Results go to stdout, everything said to a person to stderr. */
export async function printResult(result: Result, settings: GlobalOptions, io: Io): Promise<void> {
  const { operation, output } = result
  const { show } = operation.meta
  const columns = 'columns' in show ? show.columns : undefined
  if (settings.output !== 'table') {
    await io.stdout.write(await renderDocument(settings.output, columns, output))
    return
  }
  if (show.as === 'once') return printOnce(show, output, result.client, io)
  const view = stdoutView(io, settings.utc)
  const own = handMade[operation.name]?.(output, view) ?? null
  if (own !== null) return io.stdout.write(own)
  if (show.as !== 'table') return io.stdout.write(renderRecord(columns, output, view))
  const rows: readonly unknown[] = Array.isArray(output) ? output : [output]
  if (rows.length === 0) return io.stderr.write(`${show.empty}\n`)
  return io.stdout.write(renderTable(show.columns, rows, view))
}
