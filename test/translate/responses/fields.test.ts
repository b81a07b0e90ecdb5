import type {
  ResponseCreateParams,
  ResponseIncludable,
  ResponseInputItem,
  ResponseOutputItem,
  ResponseTextConfig,
  Tool,
} from 'openai/resources/responses/responses'
import type { Reasoning } from 'openai/resources/shared'
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../src/core/json/json-value.ts'
import { responsesFields } from '../../../src/translate/responses/fields.ts'
import { isAccountedFor, unsaidLosses } from '../../support/translate/field-check.ts'
import { responsesBodies as bodies } from '../../support/translate/responses-bodies.ts'
import { type RequestOptions, translateRequest } from '../../support/translate/stage.ts'

/** The names of the members of a type, and of each of its alternatives. */
type Names<T> = T extends object ? { [Name in keyof T]-?: string extends Name ? never : Name }[keyof T] & string : never
type Item<T> = T extends readonly (infer Element)[] ? Element : never
type Rows = keyof typeof responsesFields
type Missing<T, Prefix extends string> = Exclude<`${Prefix}${Names<T>}`, Rows>
type MissingKinds<Kind extends string, Prefix extends string> = Exclude<`${Prefix}${Kind}`, Rows>

/** Does not compile while the SDK has members that the table does not name: give each of them a row. */
function hasRows<_Missing extends never>(): void {}

/** Items that are translated; the others have rows by their type. */
type ReadType =
  | 'message'
  | 'function_call'
  | 'custom_tool_call'
  | 'function_call_output'
  | 'custom_tool_call_output'
  | 'reasoning'
type AnyItem = ResponseInputItem | ResponseOutputItem
type ReadItem = Extract<AnyItem, { type?: ReadType }>
type Hosted =
  | 'web_search_call'
  | 'file_search_call'
  | 'code_interpreter_call'
  | 'image_generation_call'
  | 'mcp_list_tools'
  | 'mcp_call'
type OtherItems = Exclude<NonNullable<ResponseInputItem['type']>, ReadType | Hosted | 'additional_tools'>
type Content = Item<Exclude<Extract<ReadItem, { content: unknown }>['content'], string>>
type Output = Item<Exclude<Extract<ReadItem, { output: unknown }>['output'], string>>
type ReadTool = Extract<Tool, { type: 'function' | 'custom' | 'namespace' | `web_search${string}` }>
type Inner = Extract<Tool, { type: 'namespace' }>['tools'][number]
type Choice = Extract<ResponseCreateParams['tool_choice'], { type: 'function' | 'custom' | 'allowed_tools' }>

it('the table names every member of the SDK', () => {
  hasRows<Missing<ResponseCreateParams, ''>>()
  hasRows<Missing<ReadItem, 'input.'>>()
  hasRows<Missing<Content, 'input.content.'>>()
  hasRows<Missing<Output, 'input.output.'>>()
  hasRows<MissingKinds<OtherItems, 'input:'>>()
  hasRows<MissingKinds<ResponseIncludable, 'include:'>>()
  hasRows<Missing<ReadTool, 'tools.'>>()
  hasRows<Missing<ReadTool, 'input.tools.'>>()
  hasRows<Missing<Inner, 'tools.tools.'>>()
  hasRows<Missing<Inner, 'input.tools.tools.'>>()
  hasRows<MissingKinds<Exclude<Tool['type'], ReadTool['type']>, 'tools:'>>()
  hasRows<Missing<Choice, 'tool_choice.'>>()
  hasRows<Missing<Reasoning, 'reasoning.'>>()
  hasRows<Missing<ResponseTextConfig, 'text.'>>()
  hasRows<Missing<NonNullable<ResponseTextConfig['format']>, 'text.format.'>>()
  hasRows<Missing<ResponseCreateParams.StreamOptions, 'stream_options.'>>()
})

const user = { role: 'user', content: 'x' }
const plain = { model: 'm', input: [user] }

const fields = Object.keys(responsesFields)
const targets: ['chat' | 'messages' | 'generate', RequestOptions][] = [
  ['chat', { model: 'gpt-5.2' }],
  ['messages', { model: 'claude-opus-4-7' }],
  ['generate', { model: 'gemini-3-pro' }],
]

describe.each(targets)('to %s every field is kept, listed or refused', (to, options) => {
  // Added tools are read like the others; whether it streams is in Gemini's URL.
  const own = fields.filter((field) => !/:|^input\.tools\./.test(field) && !(to === 'generate' && field === 'stream'))
  it.each(own)('%s', (field) => {
    expect(isAccountedFor('responses', to, field, bodies, options)).toBe(true)
  })

  it.each(
    fields.filter(
      (field) => /^(?:tools|input):/.test(field) && !/unknown|hosted|image_generation_call|tool_search/.test(field),
    ),
  )('%s', (field) => {
    const [name = '', type] = field.split(':')
    const path = name === 'tools' ? 'tools[0].type' : 'input[1].type'
    const body =
      name === 'tools' ? { ...plain, tools: [{ type, name: 'n' }] } : { model: 'm', input: [user, { type, id: 'i' }] }
    const { refused } = translateRequest('responses', to, JSON.stringify(body), options)
    expect(refused?.param).toBe(path)
  })

  it('kinds that nobody knows yet are refused, calls of hosted tools listed', () => {
    const refusedAt = (body: JsonObject) =>
      translateRequest('responses', to, JSON.stringify(body), options).refused?.param
    expect(refusedAt({ ...plain, tools: [{ type: 'telepathy' }] })).toBe('tools[0].type')
    expect(refusedAt({ ...plain, input: [user, { type: 'telepathy_call' }] })).toBe('input[1].type')
    expect(refusedAt({ ...plain, input: [{ role: 'user', content: [{ type: 'smell' }] }] })).toBe('input[0].content[0]')
    expect(refusedAt({ ...plain, tools: [{ type: 'function', name: 'f' }], tool_choice: { type: 'mcp' } })).toBe(
      'tool_choice.type',
    )
    const asking = { ...plain, include: ['message.output_text.logprobs'] }
    expect(refusedAt(asking)).toBe(to === 'messages' ? 'include[0]' : undefined)
    const history = [
      user,
      { type: 'web_search_call', id: 'ws_1', action: {} },
      { role: 'assistant', content: 'y' },
      user,
    ]
    const { losses } = translateRequest('responses', to, JSON.stringify({ model: 'm', input: history }), options)
    expect(losses).toEqual(['input[1]'])
  })
})

describe('what is lost is in the table', () => {
  it.each(targets.map(([to]) => to))('at models of %s', (to) => {
    expect(unsaidLosses('responses', to, bodies)).toEqual([])
  })
})
