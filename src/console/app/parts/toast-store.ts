import type { Fault } from '../client/fault.ts'
import { faultOf } from '../client/fault.ts'

export interface Toast {
  id: number
  tone: 'good' | 'bad' | 'plain'
  title: string
  /** What to do, or what it means. */
  text?: string
  /** An error's code. */
  code?: string
  /** To search for. */
  requestId?: string | null
  /** What can be done about it. */
  action?: { title: string; run(): void }
}

const shownMs = 6000
/** Somebody reads first what can be undone. */
const shownWithActionMs = 15_000
const mostShown = 4
let toasts: readonly Toast[] = []
let last = 0
const listeners = new Set<() => void>()

function set(next: readonly Toast[]): void {
  toasts = next
  for (const listener of listeners) listener()
}

/** Says something in the corner. What went wrong stays until it is closed. */
export function toast(said: Omit<Toast, 'id'>): void {
  const id = ++last
  const leaving = toasts.length < mostShown ? undefined : (toasts.find(({ tone }) => tone !== 'bad') ?? toasts[0])
  set([...toasts.filter((one) => one !== leaving), { ...said, id }])
  if (said.tone !== 'bad') setTimeout(() => closeToast(id), said.action === undefined ? shownMs : shownWithActionMs)
}

export function toastFault(error: unknown): Fault {
  const fault = faultOf(error)
  toast({ tone: 'bad', title: fault.message, text: fault.hint, code: fault.code, requestId: fault.requestId })
  return fault
}

export function closeToast(id: number): void {
  set(toasts.filter((one) => one.id !== id))
}

export function readToasts(): readonly Toast[] {
  return toasts
}

export function subscribeToasts(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
