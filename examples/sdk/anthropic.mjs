import Anthropic from '@anthropic-ai/sdk'

const gateway = process.env.SPGW_URL ?? 'http://localhost:8787'
// The SDK itself appends /v1/messages.
const client = new Anthropic({ baseURL: `${gateway}/v1/anthropic`, apiKey: process.env.SPGW_KEY })
const message = { model: 'demo', max_tokens: 100, messages: [{ role: 'user', content: 'hello' }] }

const answer = await client.messages.create(message)
console.log(answer.content[0].text)

const stream = client.messages.stream(message)
for await (const event of stream) {
  if (event.type === 'content_block_delta' && event.delta.type === 'text_delta') process.stdout.write(event.delta.text)
}
process.stdout.write('\n')
