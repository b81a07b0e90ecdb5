import { isObject, type JsonObject, type MockUsage } from '../../mock-format.ts'
import { base64At, check, listAt, objectAt, only, pdfMagic, pngMagic, refuse, textAt } from '../refused.ts'
import type { Piece, Reply, Scene, SceneTool, SceneTurn } from '../scene.ts'
import { halves } from './messages.ts'
import type { SceneProvider } from './provider.ts'

const seal = 'c2VhbC1vZi1nZW1pbmk='
/** What Google takes in the place of a signature that another model's call never had. */
const skipped = 'skip_thought_signature_validator'

/** What Gemini 3 takes, refuses and answers. */
export const generateProvider: SceneProvider = { seal, read, whole, events }

function read(body: JsonObject): Scene {
  only(body, 'contents systemInstruction tools toolConfig generationConfig serviceTier')
  const instruction = body.systemInstruction as JsonObject | undefined
  const leading =
    instruction === undefined ? [] : [turnOf('system', only(instruction, 'parts role', 'systemInstruction.'))]
  const contents = listAt(body.contents, 'contents').map((content) => only(objectAt(content, 'contents'), 'role parts'))
  check(contents.length > 0, 'contents is not specified')
  for (const [index, content] of contents.entries()) checkTurn(contents, content, index)
  const turns = contents.map((content) => turnOf(content.role === 'model' ? 'assistant' : 'user', content))
  return { turns: [...leading, ...turns], ...readTools(body), ...readConfig(body.generationConfig) }
}

function partsOf(content: JsonObject | undefined, name: string): JsonObject[] {
  return listAt(content?.parts ?? [], 'contents.parts').filter(
    (part): part is JsonObject => isObject(part) && name in part,
  )
}

/** As many results as calls before them, and the calls of this turn signed. */
function checkTurn(contents: readonly JsonObject[], content: JsonObject, index: number): void {
  check(content.role === 'user' || content.role === 'model', 'Please use a valid role: user, model.')
  const calls = partsOf(contents[index - 1], 'functionCall').length
  const results = partsOf(content, 'functionResponse').length
  const equal = 'Please ensure that the number of function response parts is equal to the number of function call parts'
  check(calls === results, equal)
  // The current turn begins with what the user said last, which results are not.
  const said = (one: JsonObject) => listAt(one.parts, 'parts').length > partsOf(one, 'functionResponse').length
  const current = contents.findLastIndex((one) => one.role === 'user' && said(one))
  const [first] = partsOf(content, 'functionCall')
  if (first !== undefined && index > current)
    check(first.thoughtSignature !== undefined, 'Function call is missing a thought_signature in functionCall parts.')
}

function turnOf(role: SceneTurn['role'], content: JsonObject): SceneTurn {
  const parts = listAt(content.parts, 'contents.parts')
  check(parts.length > 0, 'contents.parts must not be empty.')
  return { role, pieces: parts.flatMap((part) => readPart(objectAt(part, 'contents.parts'))) }
}

function readPart(part: JsonObject): Piece[] {
  only(part, 'text thought thoughtSignature inlineData fileData functionCall functionResponse')
  const { thoughtSignature: signature } = part
  check([undefined, seal, skipped].includes(signature as string), 'Corrupted thought signature.')
  const sealed: Piece[] = signature === seal ? [{ kind: 'thought', text: '', seal }] : []
  if (part.thought === true) return sealed
  if (part.text !== undefined) {
    check(part.text !== '', 'contents.parts: part must have one initialized field')
    return [...sealed, { kind: 'text', text: textAt(part.text, 'parts.text') }]
  }
  if (part.functionCall !== undefined) {
    const { name, args = {} } = only(objectAt(part.functionCall, 'functionCall'), 'id name args')
    return [
      ...sealed,
      { kind: 'call', name: textAt(name, 'functionCall.name'), input: objectAt(args, 'functionCall.args') },
    ]
  }
  if (part.functionResponse !== undefined) return [readResult(objectAt(part.functionResponse, 'functionResponse'))]
  if (part.fileData === undefined) return [readInline(objectAt(part.inlineData, 'parts'))]
  const { fileUri } = only(objectAt(part.fileData, 'fileData'), 'fileUri mimeType')
  return [{ kind: 'image-url', url: textAt(fileUri, 'fileData.fileUri') }]
}

function readInline(inline: JsonObject): Piece {
  const { mimeType, data: written } = only(inline, 'mimeType data', 'inlineData.')
  // Gemini takes both alphabets.
  const data = textAt(written, 'inlineData.data').replaceAll('-', '+').replaceAll('_', '/')
  if (mimeType === 'image/png') return { kind: 'image', data: base64At(data, pngMagic, 'inlineData.data') }
  if (mimeType === 'application/pdf')
    return { kind: 'file', data: base64At(data, pdfMagic, 'inlineData.data'), name: '' }
  return refuse(`Unsupported MIME type: ${String(mimeType)}`)
}

function readResult(written: JsonObject): Piece {
  const { name, response, parts } = only(written, 'id name response parts', 'functionResponse.')
  textAt(name, 'functionResponse.name')
  const { output, error } = objectAt(response, 'functionResponse.response')
  const result = { kind: 'result' as const, text: String(output ?? error ?? ''), failed: error !== undefined }
  const [image] = parts === undefined ? [] : listAt(parts, 'functionResponse.parts')
  if (image === undefined) return result
  const inline = readInline(objectAt(objectAt(image, 'functionResponse.parts').inlineData, 'inlineData'))
  return inline.kind === 'image' ? { ...result, image: inline.data } : result
}

function readTools({ tools, toolConfig }: JsonObject): Partial<Scene> {
  if (tools === undefined) return {}
  const read = listAt(tools, 'tools').flatMap((tool) =>
    listAt(only(objectAt(tool, 'tools'), 'functionDeclarations').functionDeclarations, 'tools').map(
      (one): SceneTool => {
        const declared = only(objectAt(one, 'tools'), 'name description parameters parametersJsonSchema')
        const name = textAt(declared.name, 'functionDeclarations.name')
        check(/^[A-Za-z_][\w.:-]{0,127}$/.test(name), 'Invalid function name.')
        check(!('parameters' in declared && 'parametersJsonSchema' in declared), 'parameters and parametersJsonSchema')
        const schema = objectAt(declared.parametersJsonSchema ?? declared.parameters ?? {}, 'parameters')
        return { name, description: String(declared.description ?? ''), schema }
      },
    ),
  )
  if (toolConfig === undefined) return { tools: read }
  const { functionCallingConfig } = only(objectAt(toolConfig, 'toolConfig'), 'functionCallingConfig', 'toolConfig.')
  const { mode, allowedFunctionNames: names } = only(
    objectAt(functionCallingConfig, 'toolConfig'),
    'mode allowedFunctionNames',
  )
  check(['AUTO', 'ANY', 'NONE', 'VALIDATED'].includes(String(mode)), 'functionCallingConfig.mode')
  check(
    names === undefined || mode === 'ANY' || mode === 'VALIDATED',
    'allowed_function_names should only be set for ANY',
  )
  const one = names === undefined ? null : String(listAt(names, 'allowedFunctionNames')[0])
  return { tools: read, choice: one === null ? (String(mode).toLowerCase() as 'auto' | 'none' | 'any') : { name: one } }
}

const configNames =
  'temperature topP topK seed maxOutputTokens stopSequences thinkingConfig responseMimeType responseJsonSchema responseSchema'

function readConfig(value: unknown): Partial<Scene> {
  if (value === undefined) return {}
  const config = only(objectAt(value, 'generationConfig'), configNames, 'generationConfig.')
  const { temperature, topP, topK, seed, maxOutputTokens, stopSequences, thinkingConfig, responseJsonSchema } = config
  const schema = responseJsonSchema ?? config.responseSchema
  check(schema === undefined || config.responseMimeType === 'application/json', 'responseSchema needs application/json')
  const thinking = only(
    objectAt(thinkingConfig ?? {}, 'thinkingConfig'),
    'includeThoughts thinkingLevel thinkingBudget',
  )
  check(!('thinkingLevel' in thinking && 'thinkingBudget' in thinking), 'thinking_budget and thinking_level')
  const level = String(thinking.thinkingLevel ?? 'LOW')
  check(['LOW', 'MEDIUM', 'HIGH'].includes(level), `Thinking level ${level} is not supported for this model.`)
  return {
    ...(temperature !== undefined && { temperature: Number(temperature) }),
    ...(topP !== undefined && { topP: Number(topP) }),
    ...(topK !== undefined && { topK: Number(topK) }),
    ...(seed !== undefined && { seed: Number(seed) }),
    ...(maxOutputTokens !== undefined && { maxOutput: Number(maxOutputTokens) }),
    ...(stopSequences !== undefined && { stop: listAt(stopSequences, 'stopSequences').map(String) }),
    ...(thinking.thinkingLevel !== undefined && { effort: String(thinking.thinkingLevel).toLowerCase() }),
    ...(thinking.thinkingBudget === 0 && { effort: 'none' }),
    ...(schema !== undefined && { schema: objectAt(schema, 'responseSchema') }),
  }
}

const finishes = { end: 'STOP', length: 'MAX_TOKENS', calls: 'STOP', filtered: 'SAFETY' } as const

/** Of parallel calls only the first is signed. */
function partOf(piece: Piece, isFirstCall: boolean): JsonObject {
  if (piece.kind === 'text') return { text: piece.text }
  if (piece.kind === 'thought') return { text: piece.text, thought: true }
  if (piece.kind !== 'call') throw new Error(`no answer has a ${piece.kind}`)
  const functionCall = { name: piece.name, args: piece.input }
  return isFirstCall ? { functionCall, thoughtSignature: seal } : { functionCall }
}

function partsFor({ pieces }: Reply): JsonObject[] {
  const first = pieces.findIndex(({ kind }) => kind === 'call')
  return pieces.map((piece, index) => partOf(piece, index === first))
}

function answer(parts: JsonObject[], more: JsonObject, body: JsonObject): JsonObject {
  const candidate = { content: { parts, role: 'model' }, ...more, index: 0 }
  return { candidates: [candidate], modelVersion: body.model ?? 'gemini-3-pro', responseId: 'scene-response' }
}

function usageOf(usage: MockUsage): JsonObject {
  return {
    promptTokenCount: usage.input,
    candidatesTokenCount: usage.output - usage.reasoning,
    thoughtsTokenCount: usage.reasoning,
    cachedContentTokenCount: usage.cacheRead,
    totalTokenCount: usage.input + usage.output,
  }
}

function whole(reply: Reply, body: JsonObject, usage: MockUsage): JsonObject {
  return { ...answer(partsFor(reply), { finishReason: finishes[reply.finish] }, body), usageMetadata: usageOf(usage) }
}

function events(reply: Reply, body: JsonObject, usage: MockUsage): string[] {
  const pieces = partsFor(reply).flatMap((part) =>
    typeof part.text === 'string' ? halves(part.text).map((text) => ({ ...part, text })) : [part],
  )
  const chunks = pieces.map((part) => ({
    ...answer([part], {}, body),
    usageMetadata: { promptTokenCount: usage.input },
  }))
  // The last chunk may say nothing but that it is the last.
  const last = {
    ...answer([{ text: '' }], { finishReason: finishes[reply.finish] }, body),
    usageMetadata: usageOf(usage),
  }
  return [...chunks, last].map((chunk) => `data: ${JSON.stringify(chunk)}\r\n\r\n`)
}
