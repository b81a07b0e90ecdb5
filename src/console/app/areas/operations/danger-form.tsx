import { useState } from 'react'
import type { DerivedOperation } from '../../contract/derived.ts'
import { type FormValues, inputOf, missingFields, valuesOf } from '../../parts/form-values.ts'
import { Button, ConfirmDialog, FormFault, FormField, useOperation } from '../../parts/index.ts'
import { fillIn } from '../../parts/operation-button.tsx'

interface DangerFormProps {
  operation: DerivedOperation
  preset: Record<string, string>
  onAnswer(answer: unknown): void
}

/** As `OperationForm`, but asks before it does what cannot be taken back. */
export function DangerForm({ operation, preset, onAnswer }: DangerFormProps) {
  const { fields, meta, name } = operation
  const [values, setValues] = useState<FormValues>(() => valuesOf(fields, preset))
  const [missing, setMissing] = useState<Record<string, string>>({})
  const [asking, setAsking] = useState(false)
  const { call, fault } = useOperation(name)
  const input = inputOf(fields, values, null)
  const errors = { ...fault?.fields, ...missing }
  const ask = () => {
    const lacks = missingFields(fields, values)
    setMissing(lacks)
    setAsking(Object.keys(lacks).length === 0)
  }
  const run = async () => {
    const answer = await call(input)
    if (answer !== null) onAnswer(answer)
  }
  const first = meta.positional?.[0]
  const asked = first === undefined ? undefined : input[first]
  return (
    <form
      className="form stack"
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        ask()
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
      <FormFault fault={fault} shown={fields.map((field) => field.name)} />
      <div>
        <Button look="danger" type="submit">
          {meta.summary.split(/[ ;,]/, 1)[0] ?? 'Do it'}
        </Button>
      </div>
      <ConfirmDialog
        open={asking}
        title={meta.summary}
        confirm="Do it"
        {...(typeof asked === 'string' ? { name: asked } : {})}
        onConfirm={run}
        onClose={() => setAsking(false)}
      >
        <p>{fillIn(meta.confirm ?? meta.summary, input)}</p>
      </ConfirmDialog>
    </form>
  )
}
