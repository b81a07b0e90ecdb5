import { type FormEvent, type ReactNode, useRef, useState } from 'react'
import type { Fault } from '../client/fault.ts'
import type { DerivedField } from '../contract/derived.ts'
import { operationNamed } from '../contract/operations.ts'
import { Button } from './button.tsx'
import { FaultView } from './fault-notice.tsx'
import { useFormErrors, useOpenedForm } from './field-errors.ts'
import { type ControlProps, type FieldChoice, FormField, labelOfField } from './form-field.tsx'
import { clearName, type FormValues, inputOf, overtakenFields, problemsOf, valuesOf } from './form-values.ts'
import { useOperation } from './operation-call.ts'

export interface OperationFormProps {
  /** `keys.create` */
  operation: string
  /** Input without a field: the name of what is edited, the scope. */
  fixed?: Record<string, unknown>
  /** The current values by input field: only changed fields are sent. */
  initial?: Record<string, unknown>
  /** Prefilled, and sent like anything typed. */
  preset?: Record<string, unknown>
  /** Which fields, in this order; default: all. */
  fields?: readonly string[]
  /** Folded away under "More settings". */
  folded?: readonly string[]
  /** Fields required by this form, though optional for the operation. */
  needed?: readonly string[]
  suggestions?: Record<string, readonly string[]>
  choices?: Record<string, readonly FieldChoice[]>
  labels?: Record<string, string>
  hints?: Record<string, ReactNode>
  /** Of fields that are edited by more than a text. */
  controls?: Record<string, (props: ControlProps) => ReactNode>
  /** The word on the button. */
  submit: string
  /** Until what it gives settles, the form is busy. */
  onDone(answer: unknown): void | Promise<void>
  onCancel?: () => void
  /** Between the fields and what is folded away. */
  children?: ReactNode
}

/** A form derived from an operation's input. Errors of fields are shown beside them, others above the buttons. */
export function OperationForm(props: OperationFormProps) {
  const { fixed = {}, initial, preset } = props
  const fields = fieldsOf(props)
  const { call, busy, fault } = useOperation(props.operation)
  const [finishing, setFinishing] = useState(false)
  const [before] = useState(() => (initial === undefined ? null : valuesOf(fields, initial)))
  const [values, setValues] = useState<FormValues>(() => valuesOf(fields, { ...initial, ...preset }))
  const form = useRef<HTMLFormElement>(null)
  const errors = useFormErrors(form, fault)
  useOpenedForm(form, props.onCancel !== undefined)
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    if (errors.refuse(problemsOf(fields, values, before))) return
    const answer = await call({ ...fixed, ...inputOf(fields, values, before) })
    if (answer === null) return errors.fail()
    setFinishing(true)
    await props.onDone(answer)
    setFinishing(false)
  }
  const change = (name: string) => (value: FormValues[string]) => {
    errors.change(name)
    setValues((all) => ({ ...all, [name]: value }))
  }
  const draw = (field: DerivedField) => (
    <FormField
      key={field.name}
      field={field}
      isEdit={before !== null}
      value={values[field.name] ?? ''}
      onChange={change(field.name)}
      error={errors.left[field.name]}
      suggestions={props.suggestions?.[field.name]}
      choices={props.choices?.[field.name]}
      label={props.labels?.[field.name]}
      hint={props.hints?.[field.name]}
      control={props.controls?.[field.name]}
    />
  )
  const isFolded = ({ name }: DerivedField) => props.folded?.includes(name) === true
  // What is emptied is cleared: nobody has to name it.
  const shown = before === null ? fields : fields.filter(({ name }) => name !== clearName)
  const folded = shown.filter(isFolded)
  return (
    <form ref={form} className="form stack" noValidate onSubmit={(event) => void submit(event)}>
      {shown.filter((field) => !isFolded(field)).map(draw)}
      {props.children}
      {folded.length === 0 ? null : (
        <details className="fold" open={folded.some(({ name }) => errors.all[name] !== undefined) || undefined}>
          <summary>More settings</summary>
          <div className="stack">{folded.map(draw)}</div>
        </details>
      )}
      {before === null || initial === undefined || busy || finishing ? null : (
        <Overtaken
          of={overtakenFields(fields, values, before, valuesOf(fields, initial))}
          labels={props.labels ?? {}}
          stored={valuesOf(fields, initial)}
        />
      )}
      <FormFault fault={fault} shown={fields.map(({ name }) => name)} />
      <div className="row form-actions">
        <Button variant="primary" type="submit" busy={busy || finishing}>
          {props.submit}
        </Button>
        {props.onCancel === undefined ? null : <Button onClick={props.onCancel}>Cancel</Button>}
      </div>
    </form>
  )
}

interface OvertakenProps {
  of: readonly DerivedField[]
  labels: Record<string, string>
  stored: FormValues
}

/** Two people edit the same thing: whoever saves last should know what that replaces. */
function Overtaken({ of, labels, stored }: OvertakenProps) {
  if (of.length === 0) return null
  const named = of.map((field) => {
    const now = stored[field.name]
    const value = typeof now === 'string' && now !== '' && now.length <= 60 && !field.secret ? ` (now ${now})` : ''
    return `${labels[field.name] ?? labelOfField(field)}${value}`
  })
  return (
    <p className="notice notice-warning" role="status">
      Somebody else changed {named.join(', ')} after you opened this form. Saving replaces that.
    </p>
  )
}

function fieldsOf({ operation, fields, folded = [], fixed = {}, needed = [] }: OperationFormProps): DerivedField[] {
  const all = operationNamed(operation)
    .fields.filter(({ name }) => !(name in fixed))
    .map((field) => (needed.includes(field.name) ? { ...field, required: true } : field))
  if (fields === undefined) return all
  return [...fields, ...folded].flatMap((name) => all.find((field) => field.name === name) ?? [])
}

/** Shows an error unless the fields already show it. */
export function FormFault({ fault, shown }: { fault: Fault | null; shown: readonly string[] }) {
  if (fault === null) return null
  const named = Object.keys(fault.fields)
  if (named.length > 0 && named.every((name) => shown.includes(name))) return null
  return <FaultView fault={fault} />
}
