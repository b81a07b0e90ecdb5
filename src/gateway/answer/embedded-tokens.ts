import { bytesPerToken } from '../../core/cost/estimated-tokens.ts'
import { asArray, asObject, parseObject } from '../../core/json/json-value.ts'

/** In a longer body the JSON around the texts hardly counts, and parsing it would take long. */
const mostBytes = 256 * 1024

/** About how many tokens the texts to embed have, in either lane's form; null: the body holds more than texts, or is long. */
export function embeddedTokens(body: Buffer): number | null {
  const request = body.length > mostBytes ? null : parseObject(body)
  if (request === null) return null
  const { input, requests } = request
  const found =
    input === undefined
      ? asArray(requests ?? [request]).flatMap((each) => asArray(asObject(asObject(each)?.content)?.parts).map(textOf))
      : inputsOf(input)
  if (found.length === 0 || found.some((tokens) => tokens === null)) return null
  return found.reduce<number>((sum, tokens) => sum + (tokens ?? 0), 0)
}

/** A text, a list of texts, or tokens: one list or several. */
function inputsOf(input: unknown): (number | null)[] {
  return (Array.isArray(input) ? input : [input]).flatMap((each: unknown) =>
    Array.isArray(each) ? each.length : typeof each === 'number' ? 1 : lengthOf(each),
  )
}

function textOf(part: unknown): number | null {
  return lengthOf(asObject(part)?.text)
}

function lengthOf(text: unknown): number | null {
  return typeof text === 'string' ? Math.ceil(Buffer.byteLength(text) / bytesPerToken) : null
}
