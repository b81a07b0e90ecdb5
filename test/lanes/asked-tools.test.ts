import { describe, expect, it } from 'vitest'
import { readToolsOf } from '../../src/lanes/asked-tools.ts'

const nothing = { searches: 0, fileSearches: 0, containers: 0, images: 0, imageModel: null, imageSize: null }
const read = (body: object) => readToolsOf(Buffer.from(JSON.stringify(body)))

describe('what a request lets tools of the provider do that is paid besides', () => {
  it.each([
    ['OpenAI’s search', { tools: [{ type: 'web_search' }] }, 1],
    ['its earlier one', { tools: [{ type: 'web_search_preview_2025_03_11' }] }, 1],
    ['as many calls of tools as it allows', { tools: [{ type: 'web_search' }], max_tool_calls: 4 }, 4],
    ['search of chat', { web_search_options: {} }, 1],
    ['Anthropic’s, as often as it says', { tools: [{ type: 'web_search_20250305', name: 'w', max_uses: 5 }] }, 5],
    ['Anthropic’s without a bound', { tools: [{ type: 'web_search_20250305', name: 'w' }] }, 1],
    ['a bound that is none', { tools: [{ type: 'web_search_20250305', max_uses: -1 }] }, 1],
    ['an absurd one', { tools: [{ type: 'web_search_20250305', max_uses: 9e15 }] }, 10_000],
    ['Gemini’s search and maps', { tools: [{ googleSearch: {} }, { google_maps: {} }] }, 2],
    ['Gemini’s by type', { tools: [{ type: 'google_search' }] }, 1],
  ])('%s', (_what, body, searches) => {
    expect(read(body)).toEqual({ ...nothing, searches })
  })

  it.each([
    ['one image, by its size and quality', { size: '1024x1024', quality: 'low' }, 1, null, '1024x1024/low'],
    ['of any size', { quality: 'high', model: 'gpt-image-1' }, 1, 'gpt-image-1', 'auto/high'],
    ['of any quality', {}, 1, null, null],
  ])('%s', (_what, more, images, imageModel, imageSize) => {
    expect(read({ tools: [{ type: 'image_generation', ...more }] })).toEqual({
      ...nothing,
      ...{ images, imageModel, imageSize },
    })
  })

  const files = { type: 'file_search', vector_store_ids: ['vs_1'] }
  const code = (container: unknown) => ({ type: 'code_interpreter', container })

  it.each([
    ['a search in files', { tools: [files] }, { fileSearches: 1 }],
    ['as many as it allows', { tools: [files], max_tool_calls: 5 }, { fileSearches: 5 }],
    ['a session of code', { tools: [code({ type: 'auto' })] }, { containers: 1 }],
    ['what a chat searches by itself', { web_search_options: {}, tool_choice: 'none' }, { searches: 1 }],
    ['what it may choose', { tools: [files], tool_choice: 'auto' }, { fileSearches: 1 }],
  ])('%s', (_what, body, asked) => {
    expect(read(body)).toEqual({ ...nothing, ...asked })
  })

  it.each([
    ['a container that was paid for', { tools: [code('cntr_1')] }],
    ['tools that it must not use', { tools: [files, { type: 'web_search' }], tool_choice: 'none' }],
    ['tools that Anthropic must not use', { tools: [{ type: 'web_search_20250305' }], tool_choice: { type: 'none' } }],
    ['no tools', { model: 'm' }],
    ['functions that are called so', { tools: [{ type: 'function', name: 'web_search' }, { name: 'google_search' }] }],
    ['no call of a tool', { tools: [{ type: 'web_search' }, { type: 'image_generation' }], max_tool_calls: 0 }],
    ['null', { tools: null, web_search_options: null }],
  ])('nothing with %s', (_what, body) => {
    expect(read(body)).toBeNull()
  })

  it('also where their names hold an escape', () => {
    expect(readToolsOf(Buffer.from('{"tools":[{"type":"web\\u005fsearch"}]}'))).toEqual({ ...nothing, searches: 1 })
  })
})
