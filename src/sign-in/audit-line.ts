import type { AuditLine } from '../store/api.ts'
import type { Operator } from '../store/operators/operator-tables.ts'

export type { AuditLine } from '../store/api.ts'

/** What an operator did with his own way in. `details` never holds a secret. */
export function operatorLine(operator: Operator, operation: string, details: Record<string, unknown>): AuditLine {
  const { id, name } = operator
  const { address } = details
  return {
    actor: name,
    actorId: id,
    surface: 'console',
    address: typeof address === 'string' ? address : null,
    operation,
    resource: { kind: 'operator', id, name },
    before: null,
    after: details,
  }
}
