import { asArray } from '../../core/json-value.ts'

/** A list of numbers; null: it is none. */
export function readVector(value: unknown): readonly number[] | null {
  const list = asArray(value)
  return list.length > 0 && list.every((each) => typeof each === 'number') ? list : null
}

/** As OpenAI writes it: 32-bit floats, little-endian, as every machine that spgw is built for has them in memory. */
export function encodeVector(vector: readonly number[]): string {
  return Buffer.from(Float32Array.from(vector).buffer).toString('base64')
}

/** Nearer to 1 is rounding. */
const lengthTolerance = 0.001

/**
 * OpenAI's vectors have the length 1, and its clients compare them by their product alone. Gemini's that were shortened have not
 * (wire/translate.md, section 11).
 */
export function toUnitLength(vector: readonly number[]): readonly number[] {
  const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0))
  return length === 0 || Math.abs(length - 1) < lengthTolerance ? vector : vector.map((value) => value / length)
}
