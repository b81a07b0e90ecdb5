import { asArray } from '../../core/json/json-value.ts'

/** A list of numbers; null: the value is not one. */
export function readVector(value: unknown): readonly number[] | null {
  const list = asArray(value)
  return list.length > 0 && list.every((each) => typeof each === 'number') ? list : null
}

/** OpenAI's encoding: 32-bit floats, little-endian, which is the memory layout on every machine that spgw is built for. */
export function encodeVector(vector: readonly number[]): string {
  return Buffer.from(Float32Array.from(vector).buffer).toString('base64')
}

/** A smaller deviation is rounding. */
const lengthTolerance = 0.001

/**
 * OpenAI's vectors have length 1, and its clients compare them by dot product alone. Gemini's shortened vectors do not (wire/translate.md,
 * section 11).
 */
export function toUnitLength(vector: readonly number[]): readonly number[] {
  const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0))
  return length === 0 || Math.abs(length - 1) < lengthTolerance ? vector : vector.map((value) => value / length)
}
