import { oc } from '@orpc/contract'
import { z } from 'zod'
import { errorStatus, type OperationErrorCode } from './error-status.ts'
import type { Requirement } from './operators/roles.ts'

/**
 * How an operation describes itself. Everything a surface needs (route, check, command, help, table, form, reference
 * page) is derived from this and from the schemas; nothing is stated twice.
 */
export interface OperationMeta extends Requirement {
  /** One line, imperative, for `--help`, console and reference. */
  summary: string
  /** `danger` asks for confirmation on every surface (`--yes` answers it). */
  effect: 'read' | 'write' | 'danger'
  show: Show
  /** Only for whoever is at the machine's command line: the way back in when nobody can sign in. No other face offers it. */
  onMachine?: true
  /** Input fields that stand as plain arguments on the command line, in order. */
  positional?: readonly string[]
  /** Other verbs that mean the same (`add` and `create`). */
  aliases?: readonly string[]
  /** Command lines without the leading `spgw`. */
  examples?: readonly string[]
  /** What `danger` will do, asked before it is done; `{field}` is filled from the input. */
  confirm?: string
}

export type Show =
  /** `rows`: the lists in the answer that the rows lie in (`show-rows.ts`), where it is not itself the list of them. */
  | {
      as: 'table'
      columns: readonly Column[]
      empty: string
      rows?: readonly string[]
      /** Of more groups (`limitGroups`) a person is shown so many, on a terminal and where no `limit` is asked for. */
      first?: number
    }
  | { as: 'record'; columns?: readonly Column[] }
  /** A stream of rows, pushed. `idle`: what is said while the first has not come. */
  | { as: 'live'; columns: readonly Column[]; idle?: string }
  /**
   * One field alone on stdout (a key shown once), a note on stderr: by default how a gateway key is used. `opens`: it is an
   * address for a browser of whoever asked. `without`: what is said where there is no secret. In both texts `{field}` is
   * filled from the answer.
   */
  | { as: 'once'; field: string; note?: string; opens?: true; without?: string }
  /** A stream of `download.ts`: the command line writes it into a file, called `name`, the time and `ending` (or what the input names as `format`) where none is named. */
  | { as: 'file'; name: string; ending: string }

export interface Column {
  /** Path into a row: `key.name`. */
  field: string
  title: string
  format?:
    | 'text'
    | 'number'
    | 'bytes'
    | 'size'
    | 'duration'
    | 'age'
    | 'money'
    /** USD per million of something: all its digits. */
    | 'rate'
    | 'share'
    | 'time'
    | 'state'
    | 'list'
    | 'targets'
    /** Content rules: their names, with what they do. */
    | 'rules'
    | 'id'
    /** Only worth a word where it is so. */
    | 'flag'
    /** What a limit counts (`requests a minute`); what is used of it, with its share; another amount of it. */
    | 'limit'
    | 'used'
    | 'amount'
    /** Of many limits the one nearest to its end, and how many others there are. */
    | 'nearest'
  /** Shown in the same cell where there is one, behind `join`: what says why (`429 rate_limited`); `brief` says it in a word. */
  also?: { field: string; join: string; brief?: string }
  /** What a number counts: `req`. */
  unit?: string
  /** Path of what stands in the cell where the field has no value. */
  otherwise?: string
  /** What a missing value means, where that is something. */
  absent?: string
  /** Where there is no room for all, it goes before the column behind it. */
  minor?: true
  /** Both its ends tell rows apart: cut after all others, and in its middle. */
  cut?: 'middle'
  /** Where there is no room even for all when they are cut, it goes before those behind it. */
  spare?: true
  /** Left out of tables in which no row has it, unless it is asked for. */
  optional?: true
}

/**
 * What an input field says about itself beyond its type, through zod's `.meta()`:
 * `z.string().meta({ description: 'Name of the provider', prompt: 'Name' })`.
 */
export interface FieldMeta {
  /** In words for the command line. */
  description: string
  /** What a form calls the field, where its flag is no good name. */
  label?: string
  /** What a form says in place of the description, where that is written for the command line. */
  help?: string
  /** The word that empties the field (`none`, `never`), where null does not. */
  empty?: string | undefined
  /** The id of a resource is as good as its name here. */
  acceptsId?: boolean
  /** The provider kinds that have this setting, where it is not for all. */
  kinds?: readonly string[]
  /** Asked on a terminal when missing; the text of the question. */
  prompt?: string
  /** A field that may be given in its place: with a `prompt`, it is asked for where neither is there. */
  instead?: string
  /** Never a plain argument: `--NAME-stdin`, `--NAME-env VAR` or a hidden prompt. */
  secret?: boolean
  /** The flag's name where it is not the field's in kebab case (`--header` for `headers`). */
  flag?: string
  /**
   * How the command line writes it: `K=V` pairs, a duration, a size, a repeated value, `PROVIDER[:MODEL][,weight=N]…`, names
   * of files whose texts are meant, or not at all: what it finds out by itself.
   */
  syntax?: 'pairs' | 'duration' | 'size' | 'list' | 'target' | 'files' | 'variables'
}

/** `operation({...meta}).input(schema).output(schema)`; its name is its place in the contract (`providers.add`). */
export function operation(meta: OperationMeta) {
  return oc.$meta<OperationMeta>(meta).errors(operationErrors)
}

/** Puts what a field says about itself on it. Stands last: a wrapper (`.optional()`) drops what its inside says. */
export function field<Field extends z.ZodType>(schema: Field, meta: FieldMeta): Field {
  return schema.meta({ ...meta })
}

/**
 * `message` is the cause, `data.hint` what to do, `data.fields` what is wrong with which input field, `data.reason` what a
 * provider's check found (as `providers.check` says it), or `behind` of a stream that somebody reads too slowly; none holds a secret.
 */
const data = z.object({
  hint: z.string(),
  fields: z.record(z.string(), z.string()).optional(),
  reason: z.string().nullable().optional(),
})

const operationErrors = {
  invalid: { status: errorStatus.invalid, message: 'The input is not valid.', data },
  refused: { status: errorStatus.refused, message: 'The operation was rejected.', data },
  not_found: { status: errorStatus.not_found, message: 'Not found.', data },
  conflict: { status: errorStatus.conflict, message: 'The operation conflicts with what exists.', data },
  degraded: { status: errorStatus.degraded, message: 'The store is degraded.', data },
} as const satisfies Record<OperationErrorCode, object>
