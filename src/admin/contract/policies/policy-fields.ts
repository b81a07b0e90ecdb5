import { z } from 'zod'
import {
  type ClearWord,
  clearWord,
  type RuleForm,
  type RuleTable,
  type ShownRules,
  shownName,
  type WrittenRules,
} from '../../../core/policy-rules.ts'
import { sizeText } from '../fields.ts'
import { type Column, field } from '../operation.ts'

/** What a rule's input takes, and how it is answered. */
function schemasOf(form: RuleForm): { written: z.ZodType; shown: z.ZodType } {
  switch (form.kind) {
    case 'list':
      return form.choices === null
        ? { written: z.array(z.string().min(1)), shown: z.array(z.string()) }
        : { written: z.array(z.enum(form.choices)), shown: z.array(z.enum(form.choices)) }
    case 'size':
      return { written: sizeText, shown: z.number().nullable() }
    case 'choice':
      return { written: z.enum(form.choices), shown: z.enum(form.choices).nullable() }
  }
}

type ShownFields<Shown> = { [Name in keyof Shown]: z.ZodType<Shown[Name], Shown[Name]> }
type InputFields<Written> = {
  [Name in keyof Written]-?: z.ZodOptional<z.ZodType<NonNullable<Written[Name]>, NonNullable<Written[Name]>>>
}

/** The fields of an answer that show the rules. An empty list or null: the policy does not set the rule. */
export function shownFields<Table extends RuleTable>(table: Table): ShownFields<ShownRules<Table>> {
  const entries = Object.entries(table).map(([name, { form }]) => [shownName(name, form), schemasOf(form).shown])
  return Object.fromEntries(entries) as ShownFields<ShownRules<Table>>
}

const syntaxes = { list: 'list', size: 'size', choice: undefined } as const

/** The input fields that set the rules, and with them the flags of the command line. */
export function inputFields<Table extends RuleTable>(table: Table): InputFields<WrittenRules<Table>> {
  const entries = Object.entries(table).map(([name, { form, meta }]) => {
    const syntax = syntaxes[form.kind]
    const ofForm = syntax === undefined ? {} : { syntax }
    return [name, field(schemasOf(form).written.optional(), { ...meta, ...ofForm })]
  })
  return Object.fromEntries(entries) as InputFields<WrittenRules<Table>>
}

export function clearField<Table extends RuleTable>(table: Table) {
  const words = [...Object.keys(table).map(clearWord), 'attach'] as (ClearWord<Table> | 'attach')[]
  return {
    clear: field(z.array(z.enum(words)).optional(), {
      description: 'Setting to clear',
      help: 'Settings to clear',
      syntax: 'list',
    }),
  }
}

const formats = { list: 'list', size: 'bytes', choice: undefined } as const

export function ruleColumns(table: RuleTable): Column[] {
  return Object.entries(table).map(([name, { form, title }]) => {
    const format = formats[form.kind]
    return { field: shownName(name, form), title, ...(format === undefined ? {} : { format }) }
  })
}
