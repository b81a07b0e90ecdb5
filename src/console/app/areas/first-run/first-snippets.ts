import { writeLaneCall } from '../../../../core/lane-call.ts'
import type { KeySnippet } from '../keys/key-snippets.ts'

const turns = [{ role: 'user', text: 'hello' }] as const

/** The first request in three languages, over the OpenAI lane, which every provider kind serves. */
export function firstSnippets(url: string, model: string, key: string): KeySnippet[] {
  const { path, body } = writeLaneCall('openai', { model, turns, streamed: false, maxTokens: null, temperature: null })
  const isVariable = key.startsWith('$')
  const written = (quoted: string, fromEnvironment: string) => (isVariable ? fromEnvironment : quoted)
  return [
    {
      title: 'curl',
      code: [
        `curl -s ${url}${path} \\`,
        `  -H "Authorization: Bearer ${key}" \\`,
        "  -H 'Content-Type: application/json' \\",
        `  -d '${JSON.stringify(body).replaceAll("'", "'\\''")}'`,
      ].join('\n'),
    },
    {
      title: 'JavaScript',
      code: [
        "import OpenAI from 'openai'",
        '',
        'const client = new OpenAI({',
        `  baseURL: '${url}/v1',`,
        `  apiKey: ${written(`'${key}'`, 'process.env.SPGW_KEY')},`,
        '})',
        'const answer = await client.chat.completions.create({',
        `  model: ${JSON.stringify(model)},`,
        "  messages: [{ role: 'user', content: 'hello' }],",
        '})',
        'console.log(answer.choices[0].message.content)',
      ].join('\n'),
    },
    {
      title: 'Python',
      code: [
        'import os',
        'from openai import OpenAI',
        '',
        `client = OpenAI(base_url="${url}/v1", api_key=${written(`"${key}"`, 'os.environ["SPGW_KEY"]')})`,
        'answer = client.chat.completions.create(',
        `    model=${JSON.stringify(model)},`,
        '    messages=[{"role": "user", "content": "hello"}],',
        ')',
        'print(answer.choices[0].message.content)',
      ].join('\n'),
    },
  ]
}
