import type { FieldMeta, OperationMeta } from '../../../admin/contract/operation.ts'

/** One input field of an operation, as a form needs it. */
export interface DerivedField {
  name: string
  shape: 'text' | 'number' | 'boolean' | 'list' | 'pairs'
  /** What a value, or each value of a list, may be; null: anything. */
  choices: string[] | null
  required: boolean
  nullable: boolean
  /** null: none. */
  fallback: unknown
  /** null: its name in words. */
  label: string | null
  /** For a form: not the words of the command line. */
  description: string
  prompt: string | null
  secret: boolean
  /** The word on the command line where it is not the field's own. */
  flag: string | null
  syntax: FieldMeta['syntax'] | null
  minimum: number | null
  maximum: number | null
}

/** An operation of the contract without its schemas; `scripts/derive-contract.ts` makes them. */
export interface DerivedOperation {
  /** `providers.credentials.add` */
  name: string
  path: string[]
  meta: OperationMeta
  fields: DerivedField[]
}
