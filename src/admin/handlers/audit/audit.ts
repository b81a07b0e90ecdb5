import type { AuditMark, AuditVerdict } from '../../../store/operators/audit-tables.ts'
import { operations } from '../base.ts'
import type { AdminContext } from '../context.ts'
import { notFound } from '../fault.ts'
import { exportAudit } from './export-audit.ts'
import { loadProjectNames, readAuditFilter, showLine } from './show-audit.ts'

async function findLine({ store }: AdminContext, id: string) {
  const line = await store.audit.get(id)
  if (line === null) throw notFound('audit entry', id, 'List them: spgw audit list')
  return line
}

export const audit = {
  list: operations.audit.list.handler(async ({ context, input }) => {
    const { limit, before, ...filter } = input
    // No line is ever removed: an ID without one is a mistake, and not the end of the log.
    if (before !== undefined) await findLine(context, before)
    const page = before === undefined ? {} : { before }
    const lines = await context.store.audit.list({ ...(await readAuditFilter(context, filter)), ...page, limit })
    const names = await loadProjectNames(context)
    return lines.map((line) => showLine(line, names))
  }),
  show: operations.audit.show.handler(async ({ context, input }) => {
    return showLine(await findLine(context, input.id), await loadProjectNames(context))
  }),
  verify: operations.audit.verify.handler(({ context, input }) => verifyAudit(context, input.head ?? null)),
  export: operations.audit.export.handler(({ context, input }) => exportAudit(context, input)),
}

/** `noted`: a hash at which the chain once stood. */
async function verifyAudit({ store }: Pick<AdminContext, 'store'>, noted: string | null) {
  const verdict = await store.audit.verify(noted)
  const problem = describeProblem(verdict)
  return {
    ok: problem === null,
    problem,
    lines: verdict.lines,
    head: verdict.head,
    broken: verdict.flaw === null ? null : markOf(verdict.flaw),
    noted: verdict.noted === 'missing' ? null : verdict.noted,
  }
}

function describeProblem({ flaw, noted }: AuditVerdict): string | null {
  if (flaw !== null) return `Line ${flaw.sequence} (${flaw.id || 'none'}, ${flaw.time || 'no time'}): ${flaw.reason}.`
  if (noted === 'missing')
    return 'No line has the noted hash: lines were removed from the end, or the log was rewritten.'
  return null
}

function markOf({ sequence, id, time, hash }: AuditMark): AuditMark {
  return { sequence, id, time, hash }
}
