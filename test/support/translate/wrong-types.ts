import type { FormatName } from '../../../src/core/format.ts'
import { asObject, type JsonObject } from '../../../src/core/json/json-value.ts'
import { fateOf, losses } from '../../../src/translate/losses.ts'
import { isWithin, removePath } from './field-check.ts'
import { type RequestOptions, translateRequest } from './stage.ts'

/** One value of each JSON type. A list or an object without anything in it asks for nothing. */
const values: readonly unknown[] = ['zz', 7, true, ['zz'], { zz: 1 }]

function typeOf(value: unknown): string {
  return Array.isArray(value) ? 'list' : value === null ? 'null' : typeof value
}

type Step = string | number

/** Every member that a row of the table names, and every element of a list: where it stands, and its field. */
function* placesOf(
  value: unknown,
  rows: JsonObject,
  steps: readonly Step[] = [],
  field = '',
): Generator<{ steps: readonly Step[]; field: string; value: unknown }> {
  if (Array.isArray(value)) {
    for (const [index, element] of value.entries()) {
      yield { steps: [...steps, index], field, value: element }
      yield* placesOf(element, rows, [...steps, index], field)
    }
    return
  }
  for (const [name, member] of Object.entries(asObject(value) ?? {})) {
    const inner = field === '' ? name : `${field}.${name}`
    if (!Object.hasOwn(rows, inner)) continue
    yield { steps: [...steps, name], field: inner, value: member }
    yield* placesOf(member, rows, [...steps, name], inner)
  }
}

function put(value: unknown, [step, ...rest]: readonly Step[], replace: readonly unknown[]): unknown {
  if (step === undefined) return value
  if (Array.isArray(value)) {
    const at = Number(step)
    return value.flatMap((element, index) =>
      index !== at ? [element] : rest.length === 0 ? replace : [put(element, rest, replace)],
    )
  }
  const { [step]: member, ...others } = asObject(value) ?? {}
  if (rest.length > 0) return { ...others, [step]: put(member, rest, replace) }
  return replace.length === 0 ? others : { ...others, [step]: replace[0] }
}

function pathOf(steps: readonly Step[]): string {
  return steps.map((step, at) => (typeof step === 'number' ? `[${step}]` : at === 0 ? step : `.${step}`)).join('')
}

export interface TypeCheck {
  tried: number
  /** `tools[].strict = 7`: neither refused, nor listed, nor of any effect. */
  silent: string[]
}

/** What is refused for other members says nothing about the rest. */
function withoutRefused(from: FormatName, to: FormatName, whole: JsonObject, options: RequestOptions): unknown {
  let body: unknown = whole
  for (let tries = 0; tries < 20; tries++) {
    const param = translateRequest(from, to, JSON.stringify(body), options).refused?.param
    if (param === undefined) break
    body = removePath(body, param)
  }
  return body
}

export function checkTypes(
  from: FormatName,
  to: FormatName,
  bodies: readonly JsonObject[],
  options: RequestOptions,
): TypeCheck {
  const silent = new Set<string>()
  let tried = 0
  for (const one of bodies) {
    const body = withoutRefused(from, to, one, options)
    const translate = (value: unknown) => translateRequest(from, to, JSON.stringify(value), options)
    const whole = translate(body).body
    if (whole === null) continue
    for (const { steps, field, value } of placesOf(body, losses[from])) {
      if (fateOf(from, field, to).fate === 'ignored' || field === 'model') continue
      const path = pathOf(steps)
      const without = translate(put(body, steps, [])).body
      for (const wrong of typeof steps.at(-1) === 'number' ? [...values, null] : values) {
        if (typeOf(wrong) === typeOf(value)) continue
        tried++
        const { refused, losses: lost, body: written } = translate(put(body, steps, [wrong]))
        const isListed = [refused?.param ?? '', ...lost].some((one) => isWithin(path, one) || isWithin(one, path))
        if (!isListed && written !== null && (written === without || written === whole))
          silent.add(`${path.replaceAll(/\d+/g, '')} = ${JSON.stringify(wrong)}`)
      }
    }
  }
  return { tried, silent: [...silent] }
}
