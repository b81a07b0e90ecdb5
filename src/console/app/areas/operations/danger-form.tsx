import { useState } from 'react'
import type { DerivedOperation } from '../../contract/derived.ts'
import { Button, ConfirmDialog, useOperation } from '../../parts/index.ts'
import { fillIn, titleOf } from '../../parts/operation-button.tsx'
import { InputForm } from './input-form.tsx'

interface DangerFormProps {
  operation: DerivedOperation
  preset: Record<string, string>
  onAnswer(answer: unknown): void
}

/** Asks before it does what cannot be taken back. */
export function DangerForm({ operation, preset, onAnswer }: DangerFormProps) {
  const { meta, name } = operation
  const [asked, setAsked] = useState<Record<string, unknown> | null>(null)
  const { call, fault } = useOperation(name)
  const run = async () => {
    const answer = await call(asked ?? {})
    if (answer !== null) onAnswer(answer)
  }
  const verb = meta.summary.split(/[ ;,]/, 1)[0] ?? 'Run'
  const first = meta.positional?.[0]
  const touched = first === undefined ? undefined : asked?.[first]
  return (
    <>
      <InputForm operation={operation} preset={preset} fault={fault} onInput={setAsked}>
        <Button look="danger" type="submit">
          {verb}
        </Button>
      </InputForm>
      <ConfirmDialog
        open={asked !== null}
        title={titleOf(meta.summary)}
        confirm={verb}
        {...(typeof touched === 'string' ? { name: touched } : {})}
        onConfirm={run}
        onClose={() => setAsked(null)}
      >
        <p>{fillIn(meta.confirm ?? meta.summary, asked ?? {})}</p>
      </ConfirmDialog>
    </>
  )
}
