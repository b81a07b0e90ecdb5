import { expect, it } from 'vitest'
import { gemini } from '../../src/lanes/gemini/lane.ts'

it('looks up references that are too long for any object, and no web pages', () => {
  const long = 'a'.repeat(20_000)
  const named = (body: object) =>
    gemini.match('POST', '/v1beta/models/g:generateContent')?.endpoint.references('', Buffer.from(JSON.stringify(body)))
  const part = (fileUri: string) => ({ contents: [{ parts: [{ fileData: { fileUri } }] }] })
  expect(named({ cachedContent: `cachedContents/${long}` })).toEqual([
    { type: 'cached_content', id: expect.stringMatching(/^cachedContents\/a+…$/) },
  ])
  for (const uri of [`files/${long}`, `https://${long}@generativelanguage.googleapis.com/v1beta/files/a`])
    expect(named(part(uri))).toEqual([{ type: 'file', id: expect.stringMatching(/…$/) }])
  expect(named(part(`https://example.com/a.png?signature=${long}`))).toEqual([])
})
