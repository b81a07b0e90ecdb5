import { usageFault } from './fault.ts'
import type { Field, Operation } from './operation.ts'

/**
 * The gateway checks again; here a mistake can still be named by its flag, before anything is asked of the gateway. The
 * schemas are loaded only for an input that they may refuse.
 */
export async function checkInput(operation: Operation, input: Record<string, unknown>): Promise<void> {
  const doubtful = operation.refined || operation.fields.some((field) => isDoubtful(field, input[field.name]))
  if (!doubtful) return
  const { loadInput } = await import('../src/admin/contract/load-input.ts')
  const checked = await (await loadInput(operation.name)).safeParseAsync(input)
  const issue = checked.error?.issues[0]
  if (issue === undefined) return
  const field = operation.fields.find((known) => known.name === issue.path[0])
  const message = issue.message.replace(/\.$/, '')
  const label = labelOf(operation, field)
  const cause = message.startsWith('must ')
    ? `${label} ${message}.`
    : `${label} ${boundOf(issue) ?? `is not valid: ${message}`}.`
  throw usageFault(cause, `See spgw ${operation.path.join(' ')} --help.`)
}

interface Bound {
  code: string
  origin?: string
  maximum?: unknown
  minimum?: unknown
  /** False: it is not allowed itself. */
  inclusive?: boolean
}

/** The library's own words for it are for programmers. */
function boundOf({ code, origin, maximum, minimum, inclusive }: Bound): string | null {
  const unit = origin === 'string' ? ' characters' : origin === 'array' ? ' entries' : ''
  if (code === 'too_big') return unit === '' ? `must be at most ${maximum}` : `must have at most ${maximum}${unit}`
  if (code !== 'too_small') return null
  if (unit !== '' && minimum === 1) return 'must not be empty'
  if (inclusive === false) return `must be more than ${minimum}`
  return unit === '' ? `must be at least ${minimum}` : `must have at least ${minimum}${unit}`
}

function isDoubtful({ takes }: Field, value: unknown): boolean {
  if (value === undefined || takes === 'any') return false
  return takes === 'some' || value === ''
}

function labelOf(operation: Operation, field: Field | undefined): string {
  if (field === undefined) return 'The input'
  return operation.meta.positional?.includes(field.name) ? field.flag.toUpperCase() : `--${field.flag}`
}
