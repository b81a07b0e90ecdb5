import { variablesIn } from '../../../../core/variables.ts'
import type { Applied, DiffPlan } from '../outputs.ts'

export interface FileOptions {
  prune: boolean
  force: boolean
}

/** Their labels. */
export const fileOptions: Readonly<Record<keyof FileOptions, string>> = {
  prune: 'Remove resources that are no longer in the file',
  force: 'Take over resources that other files manage',
}

/** All that a plan depends on. Immutable. */
interface FileContent {
  text: string
  /** Of variables, also of those that the text names no more: it may name them again. */
  values: Readonly<Record<string, string>>
  options: FileOptions
}

export interface FileState {
  content: FileContent
  plan: DiffPlan | null
  applied: Applied | null
}

export const emptyFile: FileState = {
  content: { text: '', values: {}, options: { prune: false, force: false } },
  plan: null,
  applied: null,
}

/** Whatever was planned or applied before is of another file. */
export function changeFile({ content }: FileState, change: Partial<FileContent>): FileState {
  return { content: { ...content, ...change }, plan: null, applied: null }
}

/** The plan for what was there when it was asked for; one that comes after a change counts no longer. */
export function takePlan(state: FileState, planned: FileContent, plan: DiffPlan | null): FileState {
  return state.content === planned ? { ...state, plan, applied: null } : state
}

/** What `diff` and `apply` take. */
export function inputOfFile({ text, values, options }: FileContent) {
  const variables = Object.fromEntries(variablesIn(text).map((name) => [name, values[name] ?? '']))
  return { files: { 'pasted.yaml': text }, variables, ...options }
}
