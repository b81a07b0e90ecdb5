import { type RefObject, useCallback, useEffect, useState } from 'react'
import type { Fault } from '../client/fault.ts'
import { type FieldErrors, withoutChanged } from './form-values.ts'

export interface FormErrors {
  /** Of what was sent last; for what is to stay open while somebody mends it. */
  all: FieldErrors
  /** Those that are still to be fixed. */
  left: FieldErrors
  /** Takes what is wrong before anything is sent; whether there is something. */
  refuse(problems: FieldErrors): boolean
  /** The gateway refused it. */
  fail(): void
  /** A field was written in. */
  change(name: string): void
}

/** What is wrong with a form's fields. A refused form is gone on with at its first wrong field. */
export function useFormErrors(form: RefObject<HTMLFormElement | null>, fault: Fault | null): FormErrors {
  const [problems, setProblems] = useState<FieldErrors>({})
  const [changed, setChanged] = useState<ReadonlySet<string>>(new Set())
  const [refusals, setRefusals] = useState(0)
  useEffect(() => {
    if (refusals > 0) focusFirstWrong(form.current)
  }, [refusals, form])
  const fail = useCallback(() => setRefusals((count) => count + 1), [])
  const all = { ...fault?.fields, ...problems }
  return {
    all,
    left: withoutChanged(all, changed),
    refuse: (found) => {
      setProblems(found)
      setChanged(new Set())
      const isRefused = Object.keys(found).length > 0
      if (isRefused) fail()
      return isRefused
    },
    fail,
    change: (name) => {
      if (all[name] !== undefined && !changed.has(name)) setChanged(new Set([...changed, name]))
    },
  }
}

/** Whoever opens a form is going to write; in a dialog the dialog sees to it. */
export function useOpenedForm(form: RefObject<HTMLFormElement | null>, isOpened: boolean): void {
  useEffect(() => {
    if (!isOpened || form.current === null || form.current.closest('dialog') !== null) return
    form.current.querySelector<HTMLElement>(':is(input, select, textarea):enabled')?.focus()
  }, [form, isOpened])
}

/** Else its button, which had the focus until it was busy. */
function focusFirstWrong(form: HTMLFormElement | null): void {
  const wrong = form?.querySelector<HTMLElement>(
    '[aria-invalid="true"], .field-wrong :is(input, select, textarea, button)',
  )
  if (wrong != null) wrong.focus()
  else if (document.activeElement === document.body) form?.querySelector<HTMLElement>('[type=submit]')?.focus()
}
