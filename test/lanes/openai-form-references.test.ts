import { describe, expect, it } from 'vitest'
import { FormScanner } from '../../src/core/bytes/form-scan.ts'
import { openai } from '../../src/lanes/openai/lane.ts'

/** What a call with this one part refers to, or what is wrong with its form. */
function read(path: string, name: string, value: string, more = ''): string[] {
  const match = openai.match('POST', path)!
  const { needed, early, read } = match.endpoint.formFields
  const scanner = new FormScanner('b', [...needed, ...early, ...read])
  const head = `--b\r\ncontent-disposition: form-data; name="${name}"${more}\r\n\r\n`
  scanner.push(Buffer.from(`${head}${value}\r\n--b--\r\n`))
  scanner.end()
  if (scanner.wrong !== null) return [scanner.wrong]
  return match.endpoint.formReferences(scanner.fields).map(({ type, id }) => `${type} ${id}`)
}

describe('a field of a form', () => {
  it.each([
    ['/videos', 'characters[][id]', 'x', 'character x'],
    ['/videos', 'characters[0][id]', 'x', 'character x'],
    ['/videos', 'characters', '[{"id":"x"}]', 'character x'],
    ['/videos', 'character_ids[]', 'x', 'character x'],
    ['/videos', 'character_ids', '["x"]', 'character x'],
    ['/videos', 'input_reference[file_id]', 'x', 'file x'],
    ['/videos', 'input_reference.file_id', 'x', 'file x'],
    ['/videos', 'input_reference', '{"file_id":"x","image_url":"y"}', 'file x'],
    ['/videos/edits', 'video', 'x', 'video x'],
    ['/videos/edits', 'video', '{"id":"x"}', 'video x'],
    ['/videos/edits', 'video[id][]', 'x', 'video x'],
    ['/videos/extensions', 'video.id', 'x', 'video x'],
    ['/containers/c/files', 'file_id[]', 'x', 'file x'],
    ['/audio/voices', 'consent[id]', 'x', 'voice_consent x'],
    ['/images/edits', 'image[file_id]', 'x', 'file x'],
    ['/images/edits', 'image[0][file_id]', 'x', 'file x'],
  ])('of %s, %s = %s is %s', (path, name, value, told) => {
    expect(read(path, name, value)).toEqual([told])
  })

  it.each([
    ['/videos', 'input_reference', '; filename="a.png"'],
    ['/images/edits', 'image[]', '; filename="a.png"'],
    ['/videos/edits', 'video', '; filename="a.mp4"'],
    ['/videos', 'input_reference[image_url]', ''],
    ['/videos', 'prompt', ''],
  ])('of %s, %s%s names nothing, however long', (path, name, more) => {
    expect(read(path, name, 'x'.repeat(5000), more)).toEqual([])
  })

  it.each([
    ['/videos/edits', 'video%5Bid%5D', 'video[id]'],
    ['/videos/edits', 'Video', 'video'],
    ['/containers/c/files', 'FILE_ID', 'file_id'],
    ['/images/generations', 'Model', 'model'],
    ['/audio/voices', 'con\u017fent[id]', 'consent[id]'],
  ])('of %s, %s is refused', (path, name, tokenModel) => {
    expect(read(path, name, 'x')).toEqual([`the name ${tokenModel} is escaped or in other letters`])
  })

  it('that holds JSON refers to both of two, in any letters', () => {
    const match = openai.match('POST', '/videos')!
    const value = '[{"id":"a","id":"b"},{"ID":"c","File_Id":["d"]}]'
    const fields = [{ name: 'characters', value, start: 0, end: 0 }]
    expect(match.endpoint.formReferences(fields).map(({ id }) => id)).toEqual(['a', 'b', 'c', 'd'])
  })
})
