import { readContentRules } from '../core/policies/content-rules.ts'
import {
  fileName,
  parseRate,
  type RuleForm,
  type RuleTable,
  type RuleValues,
  shownName,
  unsetValue,
} from '../core/policies/policy-rules.ts'
import * as forms from './forms.ts'
import type { Fields, Plain } from './resource.ts'

function formOf(form: RuleForm): forms.Form {
  switch (form.kind) {
    case 'list':
      return form.choices === null
        ? forms.list(`a list of ${form.what}`, { sorted: form.sorted, of: forms.textThat(form.accepts) })
        : forms.list(`a list of ${form.choices.join(', ')}`, { sorted: form.sorted, of: forms.choice(form.choices) })
    case 'size':
      return forms.orWord(forms.size, 'none')
    case 'duration':
      return forms.orWord({ ...forms.duration, expected: form.expected, read: readLonger }, 'none')
    case 'count':
      return forms.orWord(forms.whole(0, Number.MAX_SAFE_INTEGER), 'none')
    case 'money':
      return forms.orWord(forms.amount(1e9), 'none')
    case 'switch':
      return forms.flag
    case 'rate':
      return forms.orWord(rateForm(form.words), 'default')
    case 'choice':
      // `none` may be one of the choices.
      return forms.orWord(forms.choice(form.choices), 'default')
    case 'content':
      return contentForm
  }
}

/** Than 0. */
function readLonger(value: unknown) {
  const milliseconds = forms.duration.read(value)
  return milliseconds === 0 ? undefined : milliseconds
}

const contentForm: forms.Form = {
  expected: 'a list of content rules, like {name: keys, detector: secrets, action: block}',
  read(value) {
    const read = readContentRules(value)
    return 'wrong' in read ? undefined : read.rules.map((rule) => ({ ...rule }))
  },
  write: (value) => value,
}

function rateForm(words: readonly string[]): forms.Form {
  return {
    expected: `${words.join(', ')} or a rate in USD per million tokens`,
    read: (value) =>
      (typeof value === 'string' || typeof value === 'number' ? parseRate(words, String(value)) : null) ?? undefined,
    write: (value) => value,
  }
}

/** The fields of a policy in a configuration file, one a rule. */
export function ruleSpecs(table: RuleTable) {
  return Object.fromEntries(
    Object.entries(table).map(([name, { form }]) => [
      fileName(name),
      { form: formOf(form), shown: shownName(name, form), fallback: unsetValue(form) },
    ]),
  )
}

/** A policy's rules as the fields of a file. */
export function ruleFields<Table extends RuleTable>(table: Table, rules: Partial<RuleValues<Table>>): Fields {
  return Object.fromEntries(
    Object.entries(table).map(([name, { form }]) => {
      const value = (rules[name] ?? unsetValue(form)) as Plain
      return [fileName(name), form.kind === 'list' && form.sorted && Array.isArray(value) ? [...value].sort() : value]
    }),
  )
}

/** The fields of a file as a policy's rules. They were read by the rules' forms, which vouch for their types. */
export function rulesIn<Table extends RuleTable>(table: Table, fields: Fields): RuleValues<Table> {
  const entries = Object.entries(table).map(([name, { form }]) => [name, fields[fileName(name)] ?? unsetValue(form)])
  return Object.fromEntries(entries) as RuleValues<Table>
}
