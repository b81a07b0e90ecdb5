import type { Endpoint } from '../../contract.ts'
import { makeRow, type RowFacts, refuse as refuseAt } from '../../endpoint-row.ts'
import { usualFormFields } from '../../form-request.ts'
import { inspectForm, inspectHead, inspectJson, inspectReplay } from '../inspection.ts'
import { createdObjects } from '../objects/created-objects.ts'
import { type FormObjects, findReferences, formReferences, referringFields } from '../objects/references.ts'
import { readAny, readWhole } from '../readers.ts'

/** `formObjects`: the fields of its form that name objects. */
type Facts = RowFacts & { formObjects?: FormObjects }

/** A row of this lane. */
export function row(
  operation: string,
  call: Parameters<typeof makeRow>[1],
  { formObjects = {}, ...facts }: Facts = {},
): Endpoint {
  const { model = 'none', stream = null, takes = [], gives = 'json' } = facts
  const withoutBody = stream === null ? inspectHead : inspectReplay
  const usual = {
    inspect: takes.includes('json') ? inspectJson() : takes.length === 0 ? withoutBody : inspectHead,
    formFields: usualFormFields(model, stream, referringFields(formObjects)),
    inspectForm,
    reader: gives === 'json' ? readWhole : readAny,
    references: findReferences,
    formReferences: formReferences(formObjects),
    createdObjects,
  }
  return makeRow(operation, call, usual, facts)
}

export function refuse(operation: string, path: `/${string}`, why: string): Endpoint[] {
  return refuseAt(row, operation, path, why)
}
