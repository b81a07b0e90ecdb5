import { randomUUID } from 'node:crypto'
import { type Fault, fault } from '../core/errors.ts'
import type { FormatName } from '../core/format.ts'
import { passString } from '../core/json/json-text.ts'
import { asObject, isCount, type JsonObject } from '../core/json/json-value.ts'
import { type FoundTurns, PlainTurnFinder } from './find-plain-turns.ts'
import { type JsonSurvey, surveyJson } from './json-survey.ts'
import { PlainTurns, plainForms, ReframedTurns } from './plain-turns.ts'

/** A feature of JSON in Node that TypeScript's library does not declare yet. */
interface LosslessJson {
  parse(text: string, reviver: (key: string, value: unknown, context: { source?: string }) => unknown): unknown
  rawJSON(text: string): object
  isRawJSON(value: unknown): value is { rawJSON: string }
}

function isLossless(json: object): json is LosslessJson {
  return 'rawJSON' in json
}

/** A document without its long texts and plain turns, which are put back when it is written. */
export interface JsonDocument {
  value: JsonObject
  /** The bytes that were cut out. */
  pieces: readonly DocumentPiece[]
}

export type DocumentPiece = Buffer | PlainTurns

/** A part of a document to be written. */
export type WrittenPiece = Buffer | ReframedTurns | string

/** Texts at least this long (files in base64) are never decoded, unless they contain escapes. */
const longText = 64 * 1024
/** How much of a long text stays, so that its beginning can be read (`data:image/png;base64,`). */
const keptText = 512

/**
 * Stands for a piece that was cut out. Nobody outside the process can write it: it contains a number drawn at each start, and never leaves
 * the process.
 */
const mark = `\u0001${randomUUID()}`
// In a run of backslashes only the first one is tried, since only there a mark can begin.
const markInText = new RegExp(`(?<!\\\\)\\\\+u0001${mark.slice(1)}([cu])(\\d+)\\.`)
const markOfJson = new RegExp(`"\\\\u0001${mark.slice(1)}j([\\w-]*)"`)
const markOfTurns = new RegExp(`"\\\\u0001${mark.slice(1)}t(\\d+)\\.(\\w+)"`)
const markOfBase64 = new RegExp(`"\\\\u0001${mark.slice(1)}b([\\w+/=-]*)\\\\u0001${mark.slice(1)}[cu](\\d+)\\."`)
const anyMark = new RegExp(
  [markInText, markOfJson, markOfTurns, markOfBase64].map(({ source }) => source).join('|'),
  'g',
)

const quote = 0x22
const backslash = 0x5c

/** Nothing in it is deep. Nearly all chunks of a stream are shorter. */
const shortText = 1000
/** What may be a number that would be written in another way than it stands there. */
const oddNumber = /(?:^|[:[,\s])(?:-0|-?\d+[.eE]|-?\d{16})/
const plain = { isDeep: false, hasOddNumber: false }

/** Reads JSON and keeps each number's own text. Undefined for what is not JSON, or too deep for a stack. */
export function parseLossless(json: string | Buffer): unknown {
  const text = json.toString()
  // To look at each byte takes several times as long as to read it.
  if (text.length <= shortText && !oddNumber.test(text)) return parseSurveyed(text, plain)
  return parseSurveyed(text, surveyJson(typeof json === 'string' ? Buffer.from(json) : json))
}

/** To keep numbers takes several times as long as to read without. */
function parseSurveyed(text: string, { hasOddNumber, isDeep }: typeof plain): unknown {
  try {
    if (!hasOddNumber && !isDeep) return JSON.parse(text)
    return isLossless(JSON) ? JSON.parse(text, keepNumber) : undefined
  } catch {
    return undefined
  }
}

/** Whether a text is a JSON object; it is not kept. `values`: how many it has, as far as they were looked at. */
export function surveyObject(text: string): { isObject: boolean; values: number } {
  const survey = surveyJson(Buffer.from(text))
  const isObject = !survey.tooMany && asObject(parseSurveyed(text, { ...survey, hasOddNumber: false })) !== null
  return { isObject, values: survey.values }
}

/** Ids beyond 2^53 and `1.0` come out as they went in. */
function keepNumber(_: string, value: unknown, { source }: { source?: string }): unknown {
  if (typeof value !== 'number' || source === undefined || String(value) === source) return value
  return isLossless(JSON) ? JSON.rawJSON(source) : value
}

/** The value of a parsed number. Null for anything else. */
export function numberOf(value: unknown): number | null {
  if (typeof value === 'number') return value
  return isLossless(JSON) && JSON.isRawJSON(value) ? Number(value.rawJSON) : null
}

/** Null for anything but a count; `1024.0` is one. */
export function countOf(value: unknown): number | null {
  const number = numberOf(value)
  return isCount(number) ? number : null
}

const notJson = fault('invalid_request', 'The body is not a JSON object, or is nested too deeply.')
const tooManyValues = fault('request_too_large', 'The body has too many values to be translated for its provider.')

/**
 * Parses a body. In a request, runs of plain turns in the client's `format` are a single element of the list. In an answer, the fault only
 * says that it cannot be read.
 */
export function readDocument(bytes: Buffer, format: FormatName | null = null): JsonDocument | Fault {
  const finder = format === null ? null : new PlainTurnFinder(bytes, plainForms[format])
  const survey = surveyJson(bytes, finder)
  if (survey.tooMany) return tooManyValues
  const found = finder?.found ?? []
  if (format !== null && found.length > 0) {
    const document = readSurveyed(withoutTurns(bytes, found), survey)
    if (document !== null && placeTurns(document.value, plainForms[format].list, found))
      return { value: document.value, pieces: [...document.pieces, ...found.map(({ turns }) => turns)] }
  }
  return readSurveyed(bytes, survey) ?? notJson
}

function readSurveyed(bytes: Buffer, survey: JsonSurvey): JsonDocument | null {
  const { text, pieces } = cutLongTexts(bytes)
  const value = asObject(parseSurveyed(text, survey))
  return value === null ? null : { value, pieces }
}

/** Replaces each run by a mark, which nobody else can write. */
function withoutTurns(bytes: Buffer, found: readonly FoundTurns[]): Buffer {
  const kept: Buffer[] = []
  let from = 0
  for (const { turns, start, end } of found) {
    kept.push(bytes.subarray(from, start), Buffer.from(JSON.stringify(placeOf(turns))))
    from = end
  }
  kept.push(bytes.subarray(from))
  return Buffer.concat(kept)
}

function placeOf({ number }: PlainTurns): string {
  return `${mark}t${number}`
}

/**
 * Puts plain turns into their list. All other elements keep their index, so the list has holes. False: the list that was found is not the
 * one that counts, since its name occurs twice.
 */
function placeTurns(value: JsonObject, list: string, found: readonly FoundTurns[]): boolean {
  const read = value[list]
  if (!Array.isArray(read)) return false
  const placed: unknown[] = []
  let at = 0
  for (const { turns, index } of found) {
    while (placed.length < index && at < read.length) placed.push(read[at++])
    if (placed.length !== index || read[at++] !== placeOf(turns)) return false
    placed.push(turns)
    placed.length = index + turns.count
  }
  while (at < read.length) placed.push(read[at++])
  Object.assign(value, { [list]: placed })
  return true
}

/** `value` may contain texts and values of the document, in any order and any number of times. */
export function writeDocument(value: JsonObject, pieces: readonly DocumentPiece[] = []): Buffer {
  return joinPieces(writePieces(value, pieces))
}

export function joinPieces(pieces: readonly WrittenPiece[]): Buffer {
  const [only] = pieces
  if (pieces.length === 1 && typeof only === 'string') return Buffer.from(only)
  return Buffer.concat(pieces.map(toBuffer))
}

function toBuffer(piece: WrittenPiece): Buffer {
  if (typeof piece === 'string') return Buffer.from(piece)
  if (!(piece instanceof ReframedTurns)) return piece
  const bytes = Buffer.allocUnsafe(piece.length)
  piece.copyTo(bytes, 0)
  return bytes
}

/** The same in pieces: files are not copied, and texts not encoded yet. */
export function writePieces(value: JsonObject, pieces: readonly DocumentPiece[]): readonly WrittenPiece[] {
  return fill(JSON.stringify(value), pieces)
}

/** The same of a request, without halves of characters, as tools write that cut a text: for one, providers refuse all of it. */
export function writeRequestPieces(value: JsonObject, pieces: readonly DocumentPiece[]): readonly WrittenPiece[] {
  return fill(JSON.stringify(value), pieces).map((piece) => (typeof piece === 'string' ? withoutHalves(piece) : piece))
}

/** Escapes of a whole character, or of a half. */
const surrogates = /(?<!\\)((?:\\\\)*)(?:(\\ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2})|\\ud[89a-f][0-9a-f]{2})/gi

function withoutHalves(json: string): string {
  if (!/\\ud/i.test(json)) return json
  return json.replace(surrogates, (all, before, pair) => (pair ? all : `${before}\ufffd`))
}

function fill(text: string, pieces: readonly DocumentPiece[]): readonly WrittenPiece[] {
  if (!text.includes(mark.slice(1))) return [text]
  const written: WrittenPiece[] = []
  let from = 0
  for (const found of text.matchAll(anyMark)) {
    const { index, 1: form, 2: piece, 3: json, 4: turns, 5: format, 6: beginning, 7: rest } = found
    written.push(text.slice(from, index))
    // An embedded value may itself contain long texts.
    if (json !== undefined) written.push(...fill(Buffer.from(json, 'base64url').toString('utf8'), pieces))
    else if (turns !== undefined) written.push(plainText(pieces, Number(turns), format as FormatName))
    else if (beginning !== undefined) written.push(decodedText(beginning, pieces[Number(rest)]))
    else {
      const cut = pieces[Number(piece)]
      const bytes = cut instanceof Buffer ? cut : Buffer.alloc(0)
      written.push(form === 'u' ? Buffer.from(toStandard(bytes.toString('latin1')), 'latin1') : bytes)
    }
    from = index + found[0].length
  }
  written.push(text.slice(from))
  return written
}

function plainText(pieces: readonly DocumentPiece[], number: number, format: FormatName): WrittenPiece {
  const turns = pieces.find((piece) => piece instanceof PlainTurns && piece.number === number)
  return turns instanceof PlainTurns ? turns.writeFor(format) : Buffer.alloc(0)
}

function decodedText(beginning: string, rest: DocumentPiece | undefined): string {
  const base64 = beginning + (rest instanceof Buffer ? rest.toString('latin1') : '')
  return JSON.stringify(Buffer.from(base64, 'base64').toString('utf8'))
}

/** Decodes base64 to a text. If it was long, the result may be used as a value in `writeDocument`, but not inside another text. */
export function decodeText(base64: string): string {
  return isWhole(base64) ? Buffer.from(base64, 'base64').toString('utf8') : `${mark}b${base64}`
}

/** An element of a list that is written as these turns, in `format`, so as several elements. */
export function embedTurns(turns: PlainTurns, format: FormatName): string {
  return `${placeOf(turns)}.${format}`
}

/** Whether the text is complete: of a long one only the beginning is. */
export function isWhole(text: string): boolean {
  return !text.includes(mark)
}

const marksOfText = new RegExp(`${mark}[cu](\\d+)\\.`, 'g')

/** Its length in bytes, including what was cut out. */
export function fullLength(text: string, pieces: readonly DocumentPiece[]): number {
  const length = Buffer.byteLength(text)
  if (pieces.length === 0 || isWhole(text)) return length
  return [...text.matchAll(marksOfText)].reduce((sum, { 1: piece }) => sum + lengthOf(pieces[Number(piece)]), length)
}

function lengthOf(piece: DocumentPiece | undefined): number {
  return piece instanceof Buffer ? piece.length : 0
}

/**
 * Converts base64 from the URL alphabet, which Google's SDK for Python uses, to the one that all providers accept. Applies to cut-out text
 * as well.
 */
export function standardBase64(text: string): string {
  const cut = text.indexOf(mark)
  if (cut < 0) return toStandard(text)
  return `${toStandard(text.slice(0, cut))}${mark}u${text.slice(cut + mark.length + 1)}`
}

function toStandard(base64: string): string {
  return base64.replaceAll('-', '+').replaceAll('_', '/')
}

/** A value that is written as this JSON text. It may be used as a value in `writeDocument`, but not inside another text. */
export function embedJson(text: string): string {
  return `${mark}j${Buffer.from(text).toString('base64url')}`
}

function cutLongTexts(bytes: Buffer): { text: string; pieces: readonly Buffer[] } {
  if (!mayHoldLongText(bytes)) return { text: bytes.toString('utf8'), pieces: [] }
  const texts: string[] = []
  const pieces: Buffer[] = []
  let from = 0
  for (const { start, end } of longTexts(bytes)) {
    // The cut must not split a multi-byte character.
    let cut = start + keptText
    while (cut < end && ((bytes[cut] ?? 0) & 0xc0) === 0x80) cut++
    texts.push(bytes.toString('utf8', from, cut), `\\u0001${mark.slice(1)}c${pieces.length}.`)
    pieces.push(bytes.subarray(cut, end))
    from = end
  }
  texts.push(bytes.toString('utf8', from))
  return { text: texts.join(''), pieces }
}

/** Every long text contains one of these blocks without a quote, so a few searches show that most bodies have none. */
function mayHoldLongText(bytes: Buffer): boolean {
  const block = longText / 2
  for (let at = 0; at + block <= bytes.length; at += block) {
    const found = bytes.indexOf(quote, at)
    if (found < 0 || found >= at + block) return true
  }
  return false
}

/** The contents of long strings without escapes. They mean the same at any depth of strings within strings. */
function* longTexts(bytes: Buffer): Generator<{ start: number; end: number }> {
  let escaped = -1
  let at = bytes.indexOf(quote)
  while (at >= 0) {
    const start = at + 1
    if (escaped < start) escaped = find(bytes, backslash, start)
    const end = passString(bytes, start, bytes.length) - 1
    if (end < 0) return
    if (escaped > end && end - start >= longText) yield { start, end }
    at = bytes.indexOf(quote, end + 1)
  }
}

function find(bytes: Buffer, byte: number, from: number): number {
  const at = bytes.indexOf(byte, from)
  return at < 0 ? bytes.length : at
}
