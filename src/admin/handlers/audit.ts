import type { AuditFilter } from '../../store/api.ts'
import { operations } from './base.ts'
import { readMoment } from './moments.ts'

export const audit = {
  list: operations.audit.list.handler(async ({ context, input }) => {
    const filter: AuditFilter = { limit: input.limit }
    if (input.operation !== undefined) filter.operation = input.operation
    if (input.resource !== undefined) filter.resource = input.resource
    if (input.since !== undefined) filter.since = readMoment(input.since, 'back')
    if (input.until !== undefined) filter.until = readMoment(input.until, 'back')
    return context.store.audit.list(filter)
  }),
}
