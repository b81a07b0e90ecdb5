import { writeFile } from 'node:fs/promises'
import { ChatAnthropic } from '@langchain/anthropic'
import { ChatGoogleGenerativeAI } from '@langchain/google-genai'
import { ChatOpenAI } from '@langchain/openai'
import { createAgent, tool } from 'langchain'
import { z } from 'zod'

const { GATEWAY, KEY: apiKey, MODEL: model, FORMAT } = process.env
const openai = { model, apiKey, configuration: { baseURL: `${GATEWAY}/v1` } }
const models = {
  chat: () => new ChatOpenAI(openai),
  responses: () => new ChatOpenAI({ ...openai, useResponsesApi: true }),
  messages: () => new ChatAnthropic({ model, apiKey, anthropicApiUrl: `${GATEWAY}/v1/anthropic` }),
  generate: () => new ChatGoogleGenerativeAI({ model, apiKey, baseUrl: `${GATEWAY}/v1/gemini` }),
}

const write = tool(
  async ({ path, content }) => {
    await writeFile(path, content)
    return `Wrote ${path}.`
  },
  {
    name: 'write_file',
    description: 'Writes a file',
    schema: z.object({ path: z.string(), content: z.string() }),
  },
)
const agent = createAgent({ model: models[FORMAT](), tools: [write] })
const { messages } = await agent.invoke({ messages: [{ role: 'user', content: process.argv[2] }] })
process.stdout.write(messages.at(-1).text)
