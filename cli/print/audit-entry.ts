import type { z } from 'zod'
import type { auditShape, auditVerdictShape } from '../../src/admin/contract/audit.ts'
import { escapeControls, formatValue, groupDigits, guessFormat } from '../../src/admin/contract/show-value.ts'
import { alignText } from './table.ts'
import { textWidth } from './text-width.ts'
import type { View } from './view.ts'
import { wrapWords } from './wrap.ts'

type AuditEntry = z.infer<typeof auditShape>
type PrintedVerdict = z.infer<typeof auditVerdictShape>
type ChainHead = NonNullable<PrintedVerdict['head']>

/** `audit show`: who did what to what, each field before and after, and where the line stands in the chain. */
export function renderAuditEntry(output: unknown, view: View): string {
  const line = output as AuditEntry
  const { sequence, hash, previous_hash } = line
  const lines = [
    ...describeAction(line, view),
    '',
    ...describeChange(line, view),
    '',
    `${view.paint('quiet', 'Entry')}          ${sequence}, ${escapeControls(line.id)}`,
    `${view.paint('quiet', 'Previous hash')}  ${previous_hash}`,
    `${view.paint('quiet', 'Hash')}           ${hash}`,
  ]
  return `${lines.join('\n')}\n`
}

function describeAction(
  { operation, resource, project, actor, surface, address, time }: AuditEntry,
  view: View,
): string[] {
  const of = project === null ? '' : ` of project ${project}`
  const from = address === null ? '' : ` from ${address}`
  const age = formatValue(time, 'age', view)
  return [
    `${view.paint('strong', operation)}  ${escapeControls(`${resource.kind} ${resource.name}${of}`)}`,
    escapeControls(`by ${actor} via ${surface}${from}, ${age} (${time})`),
  ]
}

type FieldValue = [field: string, value: unknown]

/** What differs, or all of it where there is only one side. */
function describeChange({ before, after }: AuditEntry, view: View): string[] {
  const old = new Map(fieldValues(before))
  const now = new Map(fieldValues(after))
  const fields = [...new Set([...old.keys(), ...now.keys()])]
  const differs = (field: string) => JSON.stringify(old.get(field) ?? null) !== JSON.stringify(now.get(field) ?? null)
  const isChange = old.size > 0 && now.size > 0
  const shown = isChange ? fields.filter(differs) : fields
  if (shown.length === 0) return ['No recorded value changed.']
  const width = Math.max(...shown.map((field) => textWidth(escapeControls(field))))
  const heading = isChange ? 'Changed' : now.size > 0 ? 'After' : 'Before'
  const rows = shown.map((field) => {
    const title = view.paint('quiet', alignText(escapeControls(field), width, false))
    const value = (side: Map<string, unknown>) => formatValue(side.get(field), formatOf(field), view)
    return `  ${title}  ${isChange ? `${value(old)} → ${value(now)}` : value(now.size > 0 ? now : old)}`
  })
  return [view.paint('strong', heading), ...rows]
}

const formatOf = (field: string) => guessFormat(field.split('.').at(-1) ?? field)

/** Objects within are taken apart: `timeouts.total_ms`. */
function fieldValues(value: unknown, path: readonly string[] = []): FieldValue[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return value === null || value === undefined ? [] : [[path.join('.') || 'value', value]]
  return Object.entries(value).flatMap(([name, member]) => fieldValues(member, [...path, name]))
}

/** `audit verify`: whether the chain is whole, and where it ends. */
export function renderAuditVerdict(output: unknown, view: View): string {
  const { ok, problem, lines, head, broken, noted } = output as PrintedVerdict
  const entries = `${groupDigits(lines)} ${lines === 1 ? 'entry' : 'entries'}`
  const said = ok
    ? `✓ No entry of the audit log was changed, added or removed: ${entries}.`
    : `× The audit log was changed: ${escapeControls(problem ?? '')}`
  const marks = [...describeMark('First wrong entry', broken), ...describeMark('Noted entry', noted)]
  const rows = [...marks, ...describeMark('Last entry', head)]
  const width = Math.max(0, ...rows.map(([title]) => title.length))
  return `${[
    ...wrapWords(said, view.width).map((line) => view.paint(ok ? 'good' : 'bad', line)),
    ...rows.map(([title, text]) => `${view.paint('quiet', alignText(title, width, false))}  ${text}`),
  ].join('\n')}\n`

  function describeMark(title: string, mark: ChainHead | null): [title: string, text: string][] {
    if (mark === null) return []
    const { sequence, id, time, hash } = mark
    return [
      [title, escapeControls(`${groupDigits(sequence)}, ${id}, ${formatValue(time, 'age', view)}`)],
      ['Hash', escapeControls(hash)],
    ]
  }
}
