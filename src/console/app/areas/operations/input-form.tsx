import { type ReactNode, useState } from 'react'
import type { Fault } from '../../client/fault.ts'
import type { DerivedOperation } from '../../contract/derived.ts'
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
  const [missing, setMissing] = useState<Record<string, string>>({})
  const errors = { ...fault?.fields, ...missing }
  const submit = () => {
    const blank = problemsOf(fields, values, null)
    setMissing(blank)
    if (Object.keys(blank).length === 0) onInput(inputOf(fields, values, null))
  }
  return (
    <form
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
          onChange={(value) => setValues((all) => ({ ...all, [field.name]: value }))}
          error={errors[field.name]}
        />
      ))}
      <FormFault fault={fault} shown={fields.map(({ name }) => name)} />
      <div className="row">{children}</div>
    </form>
  )
}
