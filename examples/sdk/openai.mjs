import OpenAI from 'openai'

const gateway = process.env.SPGW_URL ?? 'http://localhost:8787'
const client = new OpenAI({ baseURL: `${gateway}/v1`, apiKey: process.env.SPGW_KEY })
const chat = { model: 'demo', messages: [{ role: 'user', content: 'hello' }] }

const answer = await client.chat.completions.create(chat)
console.log(answer.choices[0].message.content)

const stream = await client.chat.completions.create({ ...chat, stream: true })
for await (const chunk of stream) process.stdout.write(chunk.choices[0]?.delta?.content ?? '')
process.stdout.write('\n')
