import { operations } from '../base.ts'
import { notFound } from '../fault.ts'
import { exportAudit } from './export-audit.ts'
import { loadProjectNames, readAuditFilter, showLine } from './show-audit.ts'
import { verifyAudit } from './verify-audit.ts'

export const audit = {
  list: operations.audit.list.handler(async ({ context, input }) => {
    const { limit, before, ...filter } = input
    const page = before === undefined ? {} : { before }
    const lines = await context.store.audit.list({ ...(await readAuditFilter(context, filter)), ...page, limit })
    const names = await loadProjectNames(context)
    return lines.map((line) => showLine(line, names))
  }),
  show: operations.audit.show.handler(async ({ context, input }) => {
    const line = await context.store.audit.get(input.id)
    if (line === null) throw notFound('audit entry', input.id, 'List them: spgw audit list')
    return showLine(line, await loadProjectNames(context))
  }),
  verify: operations.audit.verify.handler(({ context, input }) => verifyAudit(context, input.head ?? null)),
  export: operations.audit.export.handler(({ context, input }) => exportAudit(context, input)),
}
