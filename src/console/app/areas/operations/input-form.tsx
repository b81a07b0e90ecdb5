import { type ReactNode, useEffect, useRef, useState } from 'react'
import type { Fault } from '../../client/fault.ts'
import type { DerivedOperation } from '../../contract/derived.ts'
import { useFormErrors } from '../../parts/field-errors.ts'
import { type FormValues, inputOf, problemsOf, valuesOf } from '../../parts/form-values.ts'
import { FormFault, FormField } from '../../parts/index.ts'

export interface InputFormProps {
  operation: DerivedOperation
  preset: Record<string, string>
  fault: Fault | null
  /** The buttons. */
  children: ReactNode
  /** Sent, and nothing is missing. */
  onInput(input: Record<string, unknown>): void
}

/** Like `OperationForm`, but the caller runs the operation: after a question, or as a stream. */
export function InputForm({ operation, preset, fault, children, onInput }: InputFormProps) {
  const { fields } = operation
  const [values, setValues] = useState<FormValues>(() => valuesOf(fields, preset))
  const form = useRef<HTMLFormElement>(null)
  const errors = useFormErrors(form, fault)
  const { fail } = errors
  useEffect(() => {
    if (fault !== null) fail()
  }, [fault, fail])
  const submit = () => {
    if (!errors.refuse(problemsOf(fields, values, null))) onInput(inputOf(fields, values, null))
  }
  return (
    <form
      ref={form}
      className="form stack"
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        submit()
      }}
    >
      {fields.map((field) => (
        <FormField
          key={field.name}
          field={field}
          value={values[field.name] ?? ''}
          onChange={(value) => {
            errors.change(field.name)
            setValues((all) => ({ ...all, [field.name]: value }))
          }}
          error={errors.left[field.name]}
        />
      ))}
      <FormFault fault={fault} shown={fields.map(({ name }) => name)} />
      <div className="row">{children}</div>
    </form>
  )
}
