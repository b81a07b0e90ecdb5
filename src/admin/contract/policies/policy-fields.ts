import { z } from 'zod'
import { contentActions, contentSides } from '../../../core/policies/content-rules.ts'
import {
  type ClearWord,
  clearWord,
  parseRate,
  type RuleForm,
  type RuleTable,
  type ShownRules,
  shownName,
  type WrittenRules,
} from '../../../core/policies/policy-rules.ts'
import { parseDuration } from '../../../core/units.ts'
import { sizeText } from '../fields.ts'
import { type Column, field } from '../operation.ts'

/** What a rule's input takes, and how it is answered. */
function schemasOf(form: RuleForm): { written: z.ZodType; shown: z.ZodType } {
  switch (form.kind) {
    case 'list':
      return form.choices === null
        ? { written: z.array(itemOf(form)), shown: z.array(z.string()) }
        : { written: z.array(z.enum(form.choices)), shown: z.array(z.enum(form.choices)) }
    case 'size':
      return { written: sizeText, shown: z.number().nullable() }
    case 'duration':
      return {
        written: z.string().refine((text) => (parseDuration(text) ?? 0) > 0, `must be ${form.expected}`),
        shown: z.number().nullable(),
      }
    case 'count':
      return { written: z.int().nonnegative(), shown: z.number().nullable() }
    case 'money':
      return { written: z.number().nonnegative().max(1e9), shown: z.number().nullable() }
    case 'switch':
      return { written: z.boolean(), shown: z.boolean() }
    case 'rate':
      return {
        written: z.string().refine((text) => parseRate(form.words, text) !== null, expectedRate(form.words)),
        shown: z.union([z.enum(form.words), z.number()]).nullable(),
      }
    case 'choice':
      return { written: z.enum(form.choices), shown: z.enum(form.choices).nullable() }
    case 'content':
      return { written: z.record(z.string(), z.string()), shown: z.array(contentRuleShape) }
  }
}

const contentRuleShape = z.object({
  name: z.string(),
  /** A detector or a group of them; null: it has a pattern. */
  detector: z.string().nullable(),
  /** In RE2 syntax. */
  pattern: z.string().nullable(),
  action: z.enum(contentActions),
  on: z.array(z.enum(contentSides)),
  reversible: z.boolean(),
  /** A pattern finds nothing that is longer, in characters. */
  longest: z.number(),
})

const expectedRate = (words: readonly string[]) => `must be ${words.join(', ')} or a rate in USD per million tokens`

function itemOf({ accepts, what }: Extract<RuleForm, { kind: 'list' }>): z.ZodString {
  return accepts === undefined ? z.string().min(1) : z.string().refine(accepts, `must be one of ${what}`)
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

function syntaxOf(form: RuleForm): 'list' | 'size' | 'duration' | 'files' | undefined {
  if (form.kind === 'size' || form.kind === 'duration') return form.kind
  if (form.kind === 'content') return 'files'
  return form.kind === 'list' && form.whole !== true ? 'list' : undefined
}

/** The input fields that set the rules, and with them the flags of the command line. */
export function inputFields<Table extends RuleTable>(table: Table): InputFields<WrittenRules<Table>> {
  const entries = Object.entries(table).map(([name, { form, meta }]) => {
    const syntax = syntaxOf(form)
    const ofForm = syntax === undefined ? {} : { syntax }
    return [name, field(schemasOf(form).written.optional(), { ...meta, ...ofForm })]
  })
  return Object.fromEntries(entries) as InputFields<WrittenRules<Table>>
}

export function clearField<Table extends RuleTable>(table: Table) {
  const words = [...Object.keys(table).map(clearWord), 'attach', 'grants'] as (ClearWord<Table> | 'attach' | 'grants')[]
  return {
    clear: field(z.array(z.enum(words)).optional(), {
      description: 'Setting to clear',
      help: 'Settings to clear',
      syntax: 'list',
    }),
  }
}

const formats: Partial<Record<RuleForm['kind'], Column['format']>> = {
  list: 'list',
  content: 'rules',
  size: 'size',
  duration: 'duration',
  count: 'number',
  money: 'money',
  switch: 'flag',
}

export function ruleColumns(table: RuleTable): Column[] {
  return Object.entries(table).map(([name, { form, title }]) => {
    const format = formats[form.kind]
    return { field: shownName(name, form), title, ...(format === undefined ? {} : { format }), optional: true }
  })
}
