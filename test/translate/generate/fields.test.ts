import type {
  Content,
  FunctionCall,
  FunctionCallingConfig,
  FunctionDeclaration,
  FunctionResponse,
  FunctionResponsePart,
  GenerateContentConfig,
  GenerationConfig,
  GoogleSearch,
  Part,
  ThinkingConfig,
  Tool,
  ToolConfig,
} from '@google/genai'
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../src/core/json/json-value.ts'
import { generateFields } from '../../../src/translate/generate/fields.ts'
import { isAccountedFor, unsaidLosses } from '../../support/translate/field-check.ts'
import { generateBodies as bodies } from '../../support/translate/generate-bodies.ts'
import { type RequestOptions, translateRequest } from '../../support/translate/stage.ts'

type Rows = keyof typeof generateFields
type Missing<T, Prefix extends string> = Exclude<`${Prefix}${keyof T & string}`, Rows>

/** Does not compile while the SDK has members that the table does not name: give each of them a row. */
function hasRows<_Missing extends never>(): void {}

/** What the SDK keeps to itself. */
type Local = 'httpOptions' | 'abortSignal' | 'automaticFunctionCalling' | 'automaticContinuation'
/** What it writes under another name. */
type Renamed = 'modelSelectionConfig' | 'generationOutputConfig'
type Config = Exclude<keyof GenerateContentConfig, Local | Renamed>
type HasRow<Name extends string> = Name extends Rows ? never : `generationConfig.${Name}` extends Rows ? never : Name
type OtherParts = 'executableCode' | 'codeExecutionResult' | 'toolCall' | 'toolResponse'

it('the table names every member of the SDK', () => {
  hasRows<HasRow<Config>>()
  hasRows<Missing<GenerationConfig, 'generationConfig.'>>()
  hasRows<Missing<ThinkingConfig, 'generationConfig.thinkingConfig.'>>()
  hasRows<Missing<Content, 'contents.'>>()
  hasRows<Missing<Omit<Part, OtherParts>, 'contents.parts.'>>()
  hasRows<Missing<Pick<Part, OtherParts>, 'contents.parts:'>>()
  hasRows<Missing<NonNullable<Part['mediaResolution']>, 'contents.parts.mediaResolution.'>>()
  hasRows<Missing<FunctionCall, 'contents.parts.functionCall.'>>()
  hasRows<Missing<FunctionResponse, 'contents.parts.functionResponse.'>>()
  hasRows<Missing<FunctionResponsePart, 'contents.parts.functionResponse.parts.'>>()
  hasRows<Missing<NonNullable<Part['inlineData']>, 'contents.parts.inlineData.'>>()
  hasRows<Missing<NonNullable<Part['fileData']>, 'contents.parts.fileData.'>>()
  hasRows<Missing<Tool, 'tools.'>>()
  hasRows<Missing<FunctionDeclaration, 'tools.functionDeclarations.'>>()
  hasRows<Missing<GoogleSearch, 'tools.googleSearch.'>>()
  hasRows<Missing<ToolConfig, 'toolConfig.'>>()
  hasRows<Missing<FunctionCallingConfig, 'toolConfig.functionCallingConfig.'>>()
})

const user = { role: 'user', parts: [{ text: 'x' }] }
const plain = { contents: [user] }
const png = { mimeType: 'image/png', data: 'iVBORw0KGgo=' }

const targets: ['chat' | 'responses' | 'messages', RequestOptions][] = [
  ['chat', { model: 'gpt-4o-search-preview' }],
  ['responses', { model: 'gpt-5.2' }],
  ['messages', { model: 'claude-opus-4-7' }],
]

describe.each(targets)('to %s every field is kept, listed or refused', (to, options) => {
  it.each(Object.keys(generateFields).filter((field) => !field.includes(':')))('%s', (field) => {
    expect(isAccountedFor('generate', to, field, bodies, options)).toBe(true)
  })

  it('kinds of parts that no other format has', () => {
    const translate = (part: JsonObject) =>
      translateRequest(
        'generate',
        to,
        JSON.stringify({ contents: [user, { role: 'model', parts: [{ text: 'y' }, part] }, user] }),
        options,
      )
    for (const kind of ['executableCode', 'codeExecutionResult', 'toolCall', 'toolResponse']) {
      expect(translate({ [kind]: { a: 1 } }).losses).toContain(`contents[1].parts[1].${kind}`)
    }
    expect(translate({ telepathy: {} }).refused?.param).toBe('contents[1].parts[1].telepathy')
    // Google refuses it as well: what describes data needs some.
    for (const part of [{ videoMetadata: { fps: 1 } }, { mediaResolution: {}, thought: true }])
      expect(translate(part).refused).toMatchObject({ code: 'invalid_request', param: 'contents[1].parts[1]' })
    expect(translate({}).refused).toBe(null)
  })

  it('names of what has none elsewhere, and of functions in a mode that takes none', () => {
    const lossesOf = (body: JsonObject) => translateRequest('generate', to, JSON.stringify(body), options).losses
    const named = { contents: [{ role: 'user', parts: [{ inlineData: { ...png, displayName: 'D' } }] }] }
    expect(lossesOf(named)).toEqual(['contents[0].parts[0].inlineData.displayName'])
    const names = 'toolConfig.functionCallingConfig.allowedFunctionNames'
    const choice = (mode: string) =>
      lossesOf({
        ...plain,
        tools: [{ functionDeclarations: [{ name: 'f' }] }],
        toolConfig: { functionCallingConfig: { mode, allowedFunctionNames: ['f'] } },
      })
    expect(choice('AUTO')).toEqual([names])
    expect(choice('ANY')).not.toContain(names)
  })

  it('what an answer is to be made of, and held to', () => {
    const losses = (body: JsonObject) =>
      translateRequest('generate', to, JSON.stringify({ ...plain, ...body }), options)
    const mode = { toolConfig: { functionCallingConfig: { mode: 'VALIDATED' } } }
    expect(losses(mode).losses).toContain('toolConfig.functionCallingConfig.mode')
    const kind = { generationConfig: { responseMimeType: 'text/x.enum' } }
    expect(losses(kind).refused?.param).toBe('generationConfig.responseMimeType')
  })
})

describe('what is lost is in the table', () => {
  it.each(targets.map(([to]) => to))('at models of %s', (to) => {
    expect(unsaidLosses('generate', to, bodies)).toEqual([])
  })
})
