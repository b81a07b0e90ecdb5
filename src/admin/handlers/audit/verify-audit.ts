import type { AuditMark, AuditVerdict } from '../../../store/operators/audit-tables.ts'
import type { AdminContext } from '../context.ts'

/** `noted`: a hash at which the chain once stood. */
export async function verifyAudit({ store }: Pick<AdminContext, 'store'>, noted: string | null) {
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
