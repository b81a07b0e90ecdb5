import type { JsonObject } from '../../../src/core/json/json-value.ts'

const user = { role: 'user', parts: [{ text: 'x' }] }
const plain = { contents: [user] }
const png = { mimeType: 'image/png', data: 'iVBORw0KGgo=' }
const pdf = { mimeType: 'application/pdf', fileUri: 'https://e.example/a.pdf', displayName: 'D' }
const picture = { mimeType: 'image/png', fileUri: 'https://e.example/a' }
const config = (member: JsonObject) => ({ ...plain, generationConfig: member })
const call = (more: JsonObject = {}) => ({
  role: 'model',
  parts: [{ functionCall: { name: 'f', args: { x: 1 }, ...more } }],
})
const result = (more: JsonObject) => ({
  contents: [user, call(), { role: 'user', parts: [{ functionResponse: { name: 'f', response: {}, ...more } }] }],
})

/** Requests that have every field of the table among them, with values that ask for something. */
export const generateBodies: readonly JsonObject[] = [
  {
    model: 'models/m',
    systemInstruction: { role: 'user', parts: [{ text: 'S' }] },
    contents: [
      {
        role: 'user',
        parts: [
          { text: 'A', partMetadata: { a: 1 } },
          {
            inlineData: png,
            mediaResolution: { level: 'MEDIA_RESOLUTION_LOW', numTokens: 70 },
            mediaProcessing: {},
            videoMetadata: { fps: 1 },
          },
          { text: 'B', speechMetadata: {}, audioTranscription: {} },
        ],
      },
      {
        role: 'model',
        parts: [
          { text: 'T', thought: true, thoughtSignature: 'c2ln' },
          { functionCall: { id: 'a', name: 'f', args: { x: 1 }, willContinue: false } },
        ],
      },
      {
        role: 'user',
        parts: [
          {
            functionResponse: {
              id: 'a',
              name: 'f',
              response: { output: 'r' },
              scheduling: 'SILENT',
              parts: [{ inlineData: png, mediaProcessing: {} }],
            },
          },
        ],
      },
    ],
    tools: [
      {
        functionDeclarations: [
          {
            name: 'f',
            description: 'd',
            parameters: { type: 'OBJECT', properties: { x: { type: 'NUMBER' } } },
            response: {},
            responseJsonSchema: {},
            behavior: 'NON_BLOCKING',
          },
          { name: 'g', parametersJsonSchema: { type: 'object', properties: { x: {} } } },
          { name: 'h' },
        ],
      },
    ],
    toolConfig: {
      functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['f', 'g'], streamFunctionCallArguments: true },
      retrievalConfig: {},
      includeServerSideToolInvocations: true,
    },
    safetySettings: [{}],
    labels: { a: 'b' },
    serviceTier: 'flex',
    store: true,
    generationConfig: {
      maxOutputTokens: 100,
      temperature: 0.5,
      topK: 5,
      seed: 1,
      presencePenalty: 0.1,
      frequencyPenalty: 0.1,
      responseMimeType: 'application/json',
      responseJsonSchema: { type: 'object', properties: {} },
      audioTranscriptionConfig: {},
      audioTimestamp: true,
      enableAffectiveDialog: true,
      enableEnhancedCivicAnswers: true,
      mediaResolution: 'MEDIA_RESOLUTION_LOW',
      modelConfig: {},
      modelSelectionConfig: {},
      routingConfig: {},
      thinkingConfig: { includeThoughts: true, thinkingLevel: 'LOW' },
    },
  },
  config({ topP: 0.5, thinkingConfig: { thinkingBudget: 1024 } }),
  config({ stopSequences: ['END'] }),
  config({ responseMimeType: 'application/json', responseSchema: { type: 'OBJECT' } }),
  config({ responseMimeType: 'application/json' }),
  ...[
    { candidateCount: 2 },
    { responseLogprobs: true },
    { logprobs: 3 },
    { responseFormat: [{}] },
    { responseModalities: ['IMAGE'] },
    { speechConfig: {} },
    { imageConfig: {} },
    { translationConfig: {} },
  ].map(config),
  ...[{ cachedContent: 'c' }, { continuationToken: 't' }, { modelArmorConfig: {} }, { outputConfig: {} }].map(
    (member) => ({
      ...plain,
      ...member,
    }),
  ),
  { contents: [{ role: 'user', parts: [{ text: 'x' }, { inlineData: { ...png, displayName: 'D' } }] }] },
  {
    contents: [
      { role: 'user', parts: [{ inlineData: { mimeType: 'application/pdf', data: 'JVBERi0=', displayName: 'D' } }] },
    ],
  },
  { contents: [{ role: 'user', parts: [{ fileData: pdf }] }] },
  result({ parts: [{ inlineData: { mimeType: 'application/pdf', data: 'JVBERi0=', displayName: 'D' } }] }),
  result({ parts: [{ fileData: pdf }] }),
  { contents: [{ role: 'user', parts: [{ fileData: picture }] }] },
  result({ parts: [{ fileData: picture }] }),
  {
    contents: [
      user,
      { role: 'model', parts: ['a', 'b'].map((id) => ({ functionCall: { id, name: 'f', args: {} } })) },
      {
        role: 'user',
        parts: ['b', 'a'].map((id) => ({ functionResponse: { id, name: 'f', response: { output: id } } })),
      },
    ],
  },
  result({ willContinue: true }),
  { contents: [user, call({ partialArgs: [{}] })] },
  ...[
    { excludeDomains: ['e.com'] },
    { blockingConfidence: 'BLOCK_HIGH_AND_ABOVE' },
    { searchTypes: {} },
    { timeRangeFilter: {} },
  ].map((search) => ({ ...plain, tools: [{ googleSearch: search }] })),
  { ...plain, tools: [{ googleSearchRetrieval: { dynamicRetrievalConfig: {} } }] },
  ...[
    'codeExecution',
    'computerUse',
    'enterpriseWebSearch',
    'exaAiSearch',
    'parallelAiSearch',
    'fileSearch',
    'googleMaps',
    'mcpServers',
    'retrieval',
    'urlContext',
  ].map((tool) => ({ ...plain, tools: [{ [tool]: {} }] })),
]
