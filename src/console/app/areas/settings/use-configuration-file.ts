import { useState } from 'react'
import { variablesIn } from '../../../../core/variables.ts'
import type { Fault } from '../../client/fault.ts'
import { toast, useOperation } from '../../parts/index.ts'
import type { Applied, DiffPlan } from '../outputs.ts'
import { pluralize } from '../units.ts'

export interface FileOptions {
  prune: boolean
  force: boolean
}

export interface ConfigurationFile {
  text: string
  /** Whatever was planned for another text no longer counts. */
  write(text: string): void
  /** Variables that the text names. */
  names: readonly string[]
  values: Readonly<Record<string, string>>
  setValue(name: string, value: string): void
  options: FileOptions
  setOptions(options: FileOptions): void
  plan: DiffPlan | null
  applied: Applied | null
  asking: boolean
  ask(asking: boolean): void
  planning: boolean
  applying: boolean
  fault: Fault | null
  show(): Promise<void>
  apply(): Promise<void>
}

/** A pasted or chosen file: its text, its plan, and the result of applying it. */
export function useConfigurationFile(): ConfigurationFile {
  const [text, setText] = useState('')
  const [values, setValues] = useState<Record<string, string>>({})
  const [options, setOptions] = useState<FileOptions>({ prune: false, force: false })
  const [plan, setPlan] = useState<DiffPlan | null>(null)
  const [applied, setApplied] = useState<Applied | null>(null)
  const [asking, ask] = useState(false)
  const diff = useOperation('diff')
  const make = useOperation('apply')
  const names = variablesIn(text)
  const variables = Object.fromEntries(names.map((name) => [name, values[name] ?? '']))
  const input = { files: { 'pasted.yaml': text }, variables, ...options }
  const forget = () => {
    setPlan(null)
    setApplied(null)
  }
  return {
    text,
    write(next) {
      setText(next)
      forget()
    },
    names,
    values,
    setValue: (name, value) => setValues({ ...values, [name]: value }),
    options,
    setOptions(next) {
      setOptions(next)
      forget()
    },
    plan,
    applied,
    asking,
    ask,
    planning: diff.busy,
    applying: make.busy,
    fault: diff.fault ?? make.fault,
    async show() {
      setApplied(null)
      setPlan((await diff.call(input)) as DiffPlan | null)
    },
    async apply() {
      const done = (await make.call({ ...input, expect: plan?.expect })) as Applied | null
      if (done === null) return
      toast({ tone: 'good', title: `${pluralize(done.changes.length, 'change')} applied` })
      setApplied(done)
      setPlan(null)
    },
  }
}
