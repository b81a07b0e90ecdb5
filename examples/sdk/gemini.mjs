import { GoogleGenAI } from '@google/genai'

const gateway = process.env.SPGW_URL ?? 'http://localhost:8787'
const client = new GoogleGenAI({ apiKey: process.env.SPGW_KEY, httpOptions: { baseUrl: `${gateway}/v1/gemini` } })
const request = { model: 'demo', contents: 'hello' }

const answer = await client.models.generateContent(request)
console.log(answer.text)

const stream = await client.models.generateContentStream(request)
for await (const chunk of stream) process.stdout.write(chunk.text ?? '')
process.stdout.write('\n')
