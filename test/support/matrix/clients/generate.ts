import {
  type Content,
  type GenerateContentParameters,
  type GenerateContentResponse,
  GoogleGenAI,
  type Part,
} from '@google/genai'
import type { JsonObject } from '../../mock-format.ts'
import type { Finish, Got, Piece, Scene, SceneTurn } from '../scene.ts'
import { type Asked, type Dialect, leadingSystem, type SceneClient, typed } from './client.ts'

const finishes: Record<string, Finish> = { STOP: 'end', MAX_TOKENS: 'length', SAFETY: 'filtered' }

export const generateDialect: Dialect = {
  cannot: new Set(['placed', 'marks', 'parallel', 'fileNames']),
  paramsOf,
  read: (answer) => {
    const answers = answer as GenerateContentResponse[]
    const parts = answers.flatMap(({ candidates }) => candidates?.[0]?.content?.parts ?? [])
    return { got: readAnswers(answers, parts), raw: { role: 'model', parts } satisfies Content }
  },
}

export function generateClient(baseUrl: string, key: string): SceneClient {
  const { models } = new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: `${baseUrl}/v1/gemini` } })
  return {
    cannot: generateDialect.cannot,
    ask: async (asked) => {
      const params = typed<GenerateContentParameters>(paramsOf(asked))
      const answers: GenerateContentResponse[] = []
      if (asked.streamed) for await (const answer of await models.generateContentStream(params)) answers.push(answer)
      else answers.push(await models.generateContent(params))
      return generateDialect.read(answers)
    },
  }
}

function thinkingOf(effort: string): JsonObject {
  return effort === 'none' ? { thinkingBudget: 0 } : { thinkingLevel: effort.toUpperCase(), includeThoughts: true }
}

function paramsOf({ model, scene, steps }: Asked): JsonObject {
  const { leading, rest } = leadingSystem(scene)
  const { schema, effort, choice } = scene
  const names: string[] = []
  const system = leading.flatMap(({ pieces }) => pieces.flatMap((piece) => partOf(piece, names)))
  // There is no place for a system message among the others.
  const turns = rest.filter(({ role }) => role !== 'system')
  return {
    model,
    contents: [...turns.map((turn) => contentOf(turn, names)), ...steps.flatMap(stepContents)],
    config: {
      ...(system.length > 0 && { systemInstruction: { parts: system } }),
      ...(scene.tools && {
        tools: [
          {
            functionDeclarations: scene.tools.map(({ schema: parametersJsonSchema, ...tool }) => ({
              ...tool,
              parametersJsonSchema,
            })),
          },
        ],
      }),
      ...(choice && { toolConfig: { functionCallingConfig: choiceOf(choice) } }),
      ...(schema && { responseMimeType: 'application/json', responseJsonSchema: schema }),
      ...(effort && { thinkingConfig: thinkingOf(effort) }),
      ...(scene.maxOutput && { maxOutputTokens: scene.maxOutput }),
      ...(scene.temperature !== undefined && { temperature: scene.temperature }),
      ...(scene.topP !== undefined && { topP: scene.topP }),
      ...(scene.topK !== undefined && { topK: scene.topK }),
      ...(scene.seed !== undefined && { seed: scene.seed }),
      ...(scene.stop && { stopSequences: scene.stop }),
    },
  }
}

function choiceOf(choice: NonNullable<Scene['choice']>): JsonObject {
  return typeof choice === 'object'
    ? { mode: 'ANY', allowedFunctionNames: [choice.name] }
    : { mode: choice.toUpperCase() }
}

function contentOf({ role, pieces }: SceneTurn, names: string[]): JsonObject {
  return { role: role === 'assistant' ? 'model' : 'user', parts: pieces.flatMap((piece) => partOf(piece, names)) }
}

/** `names`: of the calls so far, whose results must name them. */
function partOf(piece: Piece, names: string[]): JsonObject[] {
  switch (piece.kind) {
    case 'text':
      return [{ text: piece.text }]
    case 'image':
      return [{ inlineData: { mimeType: 'image/png', data: piece.data } }]
    case 'image-url':
      return [{ fileData: { mimeType: 'image/png', fileUri: piece.url } }]
    case 'file':
      return [{ inlineData: { mimeType: 'application/pdf', data: piece.data } }]
    case 'call':
      names.push(piece.name)
      // What Google's documents say to send for a call that its model did not make.
      return [
        { functionCall: { name: piece.name, args: piece.input }, thoughtSignature: 'skip_thought_signature_validator' },
      ]
    case 'result':
      return [resultOf(piece, names.shift())]
    case 'thought':
      return []
  }
}

function resultOf(
  { text, failed, image }: Extract<Piece, { kind: 'result' }>,
  name: string | undefined,
  id?: string,
): JsonObject {
  const parts = image === undefined ? [] : [{ inlineData: { mimeType: 'image/png', data: image } }]
  const response = { [failed ? 'error' : 'output']: text }
  return { functionResponse: { name, response, ...(id && { id }), ...(parts.length > 0 && { parts }) } }
}

function stepContents({ raw, results }: Asked['steps'][number]): JsonObject[] {
  const { parts: said, ...content } = raw as { parts: Part[] }
  // The last chunk may hold an empty text, which no request may.
  const own = said.filter(({ text, thoughtSignature }) => text !== '' || thoughtSignature !== undefined)
  const calls = own.flatMap(({ functionCall }) => functionCall ?? [])
  const parts = results.flatMap((result, index) =>
    result.kind === 'result' ? [resultOf(result, calls[index]?.name, calls[index]?.id)] : [],
  )
  return [
    { ...content, parts: own },
    { role: 'user', parts },
  ]
}

function readAnswers(answers: readonly GenerateContentResponse[], parts: readonly Part[]): Got {
  const last = answers.at(-1)
  const used = last?.usageMetadata
  const pieces = parts.flatMap((part): Piece[] => {
    const seal = part.thoughtSignature ?? ''
    if (part.functionCall) {
      const { name = '', args = {} } = part.functionCall
      return [
        ...(seal === '' ? [] : [{ kind: 'thought' as const, text: '', seal }]),
        { kind: 'call', name, input: args },
      ]
    }
    if (part.text === undefined || (part.text === '' && seal === '')) return []
    return [part.thought ? { kind: 'thought', text: part.text, seal } : { kind: 'text', text: part.text }]
  })
  const called = pieces.some(({ kind }) => kind === 'call')
  const reason = last?.candidates?.[0]?.finishReason ?? ''
  return {
    pieces,
    finish: called && reason === 'STOP' ? 'calls' : (finishes[reason] ?? 'end'),
    usage: used
      ? {
          input: (used.promptTokenCount ?? 0) + (used.toolUsePromptTokenCount ?? 0),
          output: (used.candidatesTokenCount ?? 0) + (used.thoughtsTokenCount ?? 0),
          cached: used.cachedContentTokenCount ?? 0,
          reasoning: used.thoughtsTokenCount ?? 0,
        }
      : null,
  }
}
