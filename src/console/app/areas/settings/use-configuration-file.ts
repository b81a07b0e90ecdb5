import { useState } from 'react'
import { variablesIn } from '../../../../core/variables.ts'
import type { Fault } from '../../client/fault.ts'
import { toast, useOperation } from '../../parts/index.ts'
import type { Applied, DiffPlan } from '../outputs.ts'
import { pluralize } from '../units.ts'
import { changeFile, emptyFile, type FileOptions, type FileState, inputOfFile, takePlan } from './file-state.ts'

export interface ConfigurationFile {
  text: string
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
  const [state, setState] = useState(emptyFile)
  const [asking, ask] = useState(false)
  const diff = useOperation('diff')
  const make = useOperation('apply')
  const { content, plan, applied } = state
  const change = (next: (content: FileState['content']) => Partial<FileState['content']>) => {
    diff.forget()
    make.forget()
    setState((now) => changeFile(now, next(now.content)))
  }
  return {
    ...content,
    write: (text) => change(() => ({ text })),
    names: variablesIn(content.text),
    setValue: (name, value) => change(({ values }) => ({ values: { ...values, [name]: value } })),
    setOptions: (options) => change(() => ({ options })),
    plan,
    applied,
    asking,
    ask,
    planning: diff.busy,
    applying: make.busy,
    fault: diff.fault ?? make.fault,
    async show() {
      make.forget()
      const answer = (await diff.call(inputOfFile(content))) as DiffPlan | null
      setState((now) => takePlan(now, content, answer))
    },
    async apply() {
      const done = (await make.call({ ...inputOfFile(content), expect: plan?.expect })) as Applied | null
      if (done === null) return
      toast({ tone: 'good', title: `${pluralize(done.changes.length, 'change')} applied` })
      setState((now) => ({ ...now, plan: null, applied: done }))
    },
  }
}
