import type { Endpoint } from '../../contract.ts'
import { makeRow, notServed as notServedAt, type RowFacts } from '../../endpoint-row.ts'
import { usualFormFields } from '../../form-request.ts'
import { inspectForm, inspectHead, inspectJson, inspectReplay } from '../inspection.ts'
import { createdObjects } from '../objects/created-objects.ts'
import { type FormObjects, findReferences, formReferences, referringFields } from '../objects/references.ts'
import { readAny, readWhole } from '../readers.ts'

/** `formObjects`: the fields of the form that name objects. `unitFields`: those that `readUnits` reads. */
type Facts = RowFacts & { formObjects?: FormObjects; unitFields?: readonly string[] }

/** A row of this lane. */
export function row(
  operation: string,
  call: Parameters<typeof makeRow>[1],
  { formObjects = {}, unitFields = [], ...facts }: Facts = {},
): Endpoint {
  const { model = 'none', stream = null, requestForms = [], responseForm = 'json' } = facts
  const withoutBody = stream === null ? inspectHead : inspectReplay
  const fields = usualFormFields(model, stream, referringFields(formObjects))
  const usual = {
    inspect: requestForms.includes('json') ? inspectJson() : requestForms.length === 0 ? withoutBody : inspectHead,
    formFields: { ...fields, read: [...fields.read, ...unitFields] },
    inspectForm,
    reader: responseForm === 'json' ? readWhole : readAny,
    references: findReferences,
    formReferences: formReferences(formObjects),
    createdObjects,
  }
  return makeRow(operation, call, usual, facts)
}

export function notServed(operation: string, path: `/${string}`, why: string): Endpoint[] {
  return notServedAt(row, operation, path, why)
}
