import { expect, it } from 'vitest'
import { titleWords } from '../../cli/print/title-words.ts'

it('names fields as people write them', () => {
  expect(['base url', 'openai project', 'api version', 'sha256', 'id', 'idle time'].map(titleWords)).toEqual([
    ...['Base URL', 'OpenAI project', 'API version', 'SHA-256', 'ID', 'Idle time'],
  ])
})
