import type { MockCall, MockUsage } from './mock-format.ts'
import { type FamilyRow, type Given, Refusal, readBody } from './openai/family.ts'

/** What a table of rows answers to a call; null where no row is for it. */
export function answerRows(
  rows: readonly FamilyRow[],
  call: MockCall,
  credential: string,
  usage: MockUsage,
): { given: Given; row: FamilyRow } | null {
  for (const row of rows) {
    const ids = readIds(row, call)
    if (ids === null) continue
    const read = readBody(call, row.takes)
    if (read === null) return { given: new Refusal(400, `The body must be ${row.takes}.`), row }
    const missing = row.required.find((name) => read.body[name] === undefined)
    if (missing !== undefined) return { given: new Refusal(400, `${missing}: Field required`), row }
    return { given: row.handle({ call, account: call.objects.of(credential), ids, usage, ...read }), row }
  }
  return null
}

/** What stands for the braces of the row's path, decoded; null where the call is another. */
function readIds({ call: form }: FamilyRow, { method, path }: MockCall): string[] | null {
  const [verb, wanted = ''] = form.split(' ')
  if (verb !== method) return null
  const source = wanted.replaceAll(/[.*+?^$()|[\]\\]/g, '\\$&').replaceAll(/\{\w+\}/g, '([^/:]+)')
  const found = new RegExp(`^${source}$`).exec(decodeURIComponent(path))
  return found === null ? null : found.slice(1)
}
