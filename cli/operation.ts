import type { FieldMeta, OperationMeta } from '../src/admin/contract/operation.ts'

/** What the command line needs to know of an operation: plain data, so that a bundle holds it ready (`catalog.ts`). */
export interface Operation {
  /** `providers.credentials.add` */
  name: string
  path: readonly string[]
  meta: OperationMeta
  fields: readonly Field[]
  /** The schema has rules between fields, so that even an input whose every field is right may be wrong. */
  refined: boolean
}

/** One input field of an operation, as the command line sees it. */
export interface Field extends Pick<FieldMeta, 'instead' | 'label' | 'help' | 'empty' | 'acceptsId' | 'kinds'> {
  /** In the operation's input. */
  name: string
  /** On the command line, without dashes. */
  flag: string
  shape: 'text' | 'number' | 'boolean' | 'list' | 'pairs'
  /** What a value, or each value of a list, may be; null: anything. */
  choices: readonly string[] | null
  required: boolean
  nullable: boolean
  fallback: unknown
  description: string
  prompt: string | null
  secret: boolean
  syntax: FieldMeta['syntax'] | null
  /** Which values of its shape the schema takes: any, any but an empty one, or only the schema itself can tell. */
  takes: 'any' | 'filled' | 'some'
}

/** The gateway as commands see it. */
export interface GatewayClient {
  call(path: readonly string[], input: object, options?: { signal?: AbortSignal | undefined }): Promise<unknown>
}
